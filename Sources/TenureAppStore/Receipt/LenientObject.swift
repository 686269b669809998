import TenureJSON

/// Reads a JSON object of `verifyReceipt`, Apple's older API for receipts. In its responses, a number may be written as
/// a string, and a string as a number.
///
/// A value that is missing, null or an empty string is nil. A value that can't be converted to the requested type is
/// malformed.
struct LenientObject {
    private let json: JSONObject

    init(_ object: JSONObject) { json = object }

    func has(_ name: String) -> Bool { value(name) != nil }

    /// Returns the value of a field; nil if it is missing, null or an empty string.
    private func value(_ name: String) -> JSONValue? {
        switch json[name] {
        case nil, .null, .string(""): nil
        case let value: value
        }
    }

    func text(_ name: String) throws(Rejection) -> String? {
        switch value(name) {
        case nil: return nil
        case .string(let text), .number(let text): return text
        case .boolean(let flag): return flag ? "true" : "false"
        default: throw malformed(name)
        }
    }

    func integer(_ name: String) throws(Rejection) -> Int64? { try value(name)?.integer(name) }

    func unsigned(_ name: String) throws(Rejection) -> UInt64? {
        guard let text = try text(name) else { return nil }
        guard let number = UInt64(text)
        else { throw Rejection(.malformed, "`\(name)` isn't a whole number from 0 to \(UInt64.max)") }
        return number
    }

    func object(_ name: String) throws(Rejection) -> LenientObject? {
        try value(name).map { (value) throws(Rejection) in try object(value, name) }
    }

    /// Returns an array of objects. A single object is read as an array with one element.
    func objects(_ name: String) throws(Rejection) -> [LenientObject] {
        switch value(name) {
        case nil: return []
        case .array(let elements): return try elements.map { (element) throws(Rejection) in try object(element, name) }
        case let value?: return [try object(value, name)]
        }
    }

    private func object(_ value: JSONValue, _ name: String) throws(Rejection) -> LenientObject {
        guard case .object(let object) = value else { throw malformed(name) }
        return LenientObject(object)
    }

    private func malformed(_ name: String) -> Rejection {
        Rejection(.malformed, "the value of `\(name)` has the wrong type")
    }
}

extension JSONValue {
    /// Reads a whole number that is written as a number or as a string.
    func integer(_ name: String) throws(Rejection) -> Int64 {
        let text: String? =
            switch self {
            case .number(let text), .string(let text): text
            default: nil
            }
        guard let text, let number = Int64(text) else { throw Rejection(.malformed, "`\(name)` isn't a whole number") }
        return number
    }
}
