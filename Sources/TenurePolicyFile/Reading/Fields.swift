import TenureCore

/// The values of a mapping, by key. The initializers report unknown keys and missing required keys as mistakes.
package struct Fields {
    /// The values by key. Keys that are unknown or have no value are left out.
    private let parts: [String: Part]
    /// The mapping itself.
    package let whole: Part

    /// Reads a mapping of a policy. For any other value, reports a mistake and returns nil.
    init?(_ part: Part, _ shape: PolicyShape, _ reading: inout Reading) {
        self.init(
            part, keys: shape.keys.map(\.rawValue), required: shape.required.map { ($0.key.rawValue, $0.example) },
            &reading)
    }

    /// Reads a mapping. For any other value, reports a mistake and returns nil.
    ///
    /// - Parameters:
    ///   - keys: the keys that the mapping may have.
    ///   - required: the keys that the mapping must have, each with an example for the message.
    ///   - explained: messages about certain unknown keys, by key. Other unknown keys get a general message.
    ///   - code: the code of the linter rule that describes the mistakes in `explained`.
    package init?(
        _ part: Part, keys: [String], required: [(key: String, example: String)] = [],
        explained: [String: String] = [:], code: String = "mistake", _ reading: inout Reading
    ) {
        guard case .mapping(let entries) = part.node.content else {
            let example = required.first?.example ?? keys.first.map { "\($0): …" } ?? "key: …"
            reading.report(
                "\(part.node.kindInWords) isn't possible here; write keys and values, such as `\(example)`",
                at: part.position, breaking: part.path)
            return nil
        }
        var parts: [String: Part] = [:]
        for entry in entries {
            if keys.contains(entry.key) {
                let field = Part(entry, under: part.path)
                if entry.value.isNull {
                    reading.report(
                        "`\(entry.key)` has no value; write one, or remove the line", at: entry.keyPosition,
                        breaking: field.path)
                } else {
                    parts[entry.key] = field
                }
            } else {
                let advice =
                    explained[entry.key]
                    ?? "`\(entry.key.shortened)` is unknown here; \(Spelling.advice(for: entry.key, among: keys))"
                // The unknown key may be a misspelled required key, so don't also report a missing key.
                let intendedPath = Spelling.nearest(to: entry.key, among: keys).map { part.path + [.key($0)] }
                reading.report(
                    advice, at: entry.keyPosition, breaking: intendedPath ?? part.path + [.key(entry.key)],
                    code: explained[entry.key] == nil ? "mistake" : code)
            }
        }
        self.parts = parts
        whole = part
        for (key, example) in required where parts[key] == nil {
            let path = part.path + [.key(key)]
            if reading.isOmitted(path) { continue }
            reading.report("`\(key)` is missing; write `\(example)`", at: part.position, breaking: path)
        }
    }

    /// Returns the value of a key; nil if the key is missing or has no value.
    subscript(key: PolicyKey) -> Part? { parts[key.rawValue] }
    /// Returns the value of a key; nil if the key is missing or has no value.
    package subscript(key: String) -> Part? { parts[key] }
}
