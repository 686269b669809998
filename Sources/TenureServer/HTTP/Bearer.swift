import HTTPTypes
import Hummingbird

extension Request {
    /// What stands after `Authorization: Bearer`; nil where that is not there. RFC 9110, section 11.1: the scheme in any
    /// case.
    var bearer: Substring.UTF8View? {
        guard let header = authorization?.utf8,
            let start = header.index(header.startIndex, offsetBy: 7, limitedBy: header.endIndex),
            zip(header, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        return header[start...]
    }

    /// The header where there is exactly one: of several nobody can say which counts.
    private var authorization: String? {
        var found: String?
        for field in headers where field.name == .authorization {
            guard found == nil else { return nil }
            found = field.value
        }
        return found
    }
}
