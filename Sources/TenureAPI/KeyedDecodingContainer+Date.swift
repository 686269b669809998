import Foundation
import TenureJSON

/// Reads dates from JSON. Tenure's API writes them as in RFC 3339, such as `2026-11-20T12:00:00Z`. The initializers
/// that the compiler makes for `Decodable` in this module call these functions for dates, too.
extension KeyedDecodingContainer {
    /// Reads a date. Throws if the field is missing or has another format.
    func decode(_ type: Date.Type, forKey key: Key) throws -> Date {
        let text = try decode(String.self, forKey: key)
        guard let date = Date(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "`\(text)` isn't an RFC 3339 instant, such as 2026-11-20T12:00:00Z")
        }
        return date
    }

    /// Reads a date; nil if the field is missing or null.
    func decodeIfPresent(_ type: Date.Type, forKey key: Key) throws -> Date? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try decode(type, forKey: key)
    }
}
