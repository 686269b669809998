import Foundation
package import TenureAppStore
import TenureCore
package import TenureJSON

extension JWSKind {
    /// Returns the payload with one field set from text, as in `tenure mint --set field=value`.
    ///
    /// The field has Apple's name. A field of an inner object follows a period (`data.status`). Dates are in
    /// milliseconds since 1970 or in ISO 8601. Objects and lists are in JSON. An empty string removes the field.
    ///
    /// Throws `MintingError` if there is no such field, or if the text has the wrong format.
    package func setting(_ name: String, to text: String, in payload: JSONObject) throws(MintingError) -> JSONObject {
        try payload.setting(name.split(separator: ".", omittingEmptySubsequences: false)[...], to: text, among: fields)
    }
}

extension JSONObject {
    /// Returns the object with the field at a path set from text.
    fileprivate func setting(
        _ path: ArraySlice<Substring>,
        to text: String,
        among fields: [FieldDescription]
    ) throws(MintingError) -> JSONObject {
        guard let name = path.first, let field = fields.first(where: { $0.name == name }) else {
            let names = fields.map(\.name).joined(separator: ", ")
            throw MintingError("there is no field `\(path.joined(separator: "."))`; write one of \(names)")
        }
        var result = self
        if path.count > 1 {
            guard case .object(let inner) = field.shape else {
                throw MintingError("`\(name)` has no inner fields; set `\(name)` itself")
            }
            let present = object(field.name) ?? JSONObject()
            result[field.name] = .object(try present.setting(path.dropFirst(), to: text, among: inner))
        } else {
            result[field.name] = text.isEmpty ? nil : try field.value(from: text)
        }
        return result
    }
}

extension FieldDescription {
    /// Converts text to a value with the field's shape.
    fileprivate func value(from text: String) throws(MintingError) -> JSONValue {
        switch shape {
        case .text: return .string(text)
        case .integer:
            guard let value = Int64(text) else { throw MintingError("`\(name)` must be an integer; found `\(text)`") }
            return .integer(value)
        case .instant:
            // Keep a number as written: a fraction or a very large number may be intended.
            if case .number(let digits)? = try? JSONValue(parsing: Array(text.utf8)) { return .number(digits) }
            guard let date = Date(written: text) else {
                throw MintingError(
                    "`\(name)` must be a date such as 2026-11-20, 2026-11-20T12:00:00Z or milliseconds since 1970; found `\(text)`"
                )
            }
            return .instant(date)
        case .boolean:
            guard let value = Bool(text) else { throw MintingError("`\(name)` must be true or false; found `\(text)`") }
            return .boolean(value)
        case .object, .list:
            do {
                return try JSONValue(parsing: Array(text.utf8))
            } catch {
                throw MintingError("`\(name)` must be JSON: \(error)")
            }
        }
    }
}
