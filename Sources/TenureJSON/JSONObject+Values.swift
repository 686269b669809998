/// Reads members of a JSON object as values. Each method returns nil, or an empty array, if the object has no member
/// with this name and of this kind.
extension JSONObject {
    package func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    /// The digits, as written.
    package func number(_ name: String) -> String? { if case .number(let digits)? = self[name] { digits } else { nil } }

    package func integer(_ name: String) -> Int? { number(name).flatMap { Int($0) } }

    /// Reads an integer. Nil if it is outside the range.
    package func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        integer(name).flatMap { range.contains($0) ? $0 : nil }
    }

    package func flag(_ name: String) -> Bool? { if case .boolean(let flag)? = self[name] { flag } else { nil } }

    package func object(_ name: String) -> JSONObject? {
        if case .object(let object)? = self[name] { object } else { nil }
    }

    package func objects(_ name: String) -> [JSONObject] {
        guard case .array(let elements)? = self[name] else { return [] }
        return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    package func texts(_ name: String) -> [String] {
        guard case .array(let elements)? = self[name] else { return [] }
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
