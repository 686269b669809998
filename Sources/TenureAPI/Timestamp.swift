import Foundation
import TenureCore
import TenureJSON

/// Reads instants from JSON, written as in RFC 3339.
extension KeyedDecodingContainer {
    func instant(_ key: Key) throws -> Date {
        let text = try decode(String.self, forKey: key)
        guard let date = Date(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "`\(text)` isn't an instant as in RFC 3339")
        }
        return date
    }

    func instantIfPresent(_ key: Key) throws -> Date? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try instant(key)
    }
}
