import HTTPTypes
import Hummingbird

extension Request {
    /// The token after `Authorization: Bearer`; nil unless there is exactly one such header. The case of `Bearer`
    /// doesn't matter (RFC 9110, section 11.1).
    var bearer: Substring.UTF8View? {
        guard let header = authorization?.utf8,
            let start = header.index(header.startIndex, offsetBy: 7, limitedBy: header.endIndex),
            // In ASCII, this bit makes a letter lowercase, and a blank has it already.
            zip(header, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        return header[start...]
    }

    /// The value of the `Authorization` header; nil unless there is exactly one such header. With several headers, a
    /// proxy and the service might use different values.
    private var authorization: String? {
        let values = headers[values: .authorization]
        return values.count == 1 ? values[0] : nil
    }
}
