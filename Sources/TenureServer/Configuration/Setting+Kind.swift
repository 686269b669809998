import TenurePolicyFile

/// Checks and describes the values of settings.
extension Setting.Kind {
    /// The name of the value in `--help` and tables; nil if the option has no value.
    var placeholder: String? {
        switch self {
        case .path, .trust: "file"
        case .text(let description): description
        case .number: "number"
        case .length: "length"
        case .flag, .structure: nil
        case .choice(let names): names.joined(separator: "|")
        case .list(let kind): kind.placeholder
        }
    }

    /// Returns why a text isn't a valid value; nil if the text is valid. Messages append the reason to the setting's
    /// name.
    func objection(to text: String) -> String? {
        switch self {
        case .path, .trust, .text: text.isEmpty ? "is empty; remove it, or write a value" : nil
        case .number(let range):
            Int(text).map(range.contains) == true
                ? nil : "must be a whole number from \(range.lowerBound) to \(range.upperBound); found `\(text)`"
        case .length(let range):
            TenurePolicyFile.Duration.seconds(text).map(range.contains) == true
                ? nil
                : """
                must be a length of time such as `24h` (`d`, `h`, `m`, `s`), from \(Int(range.lowerBound)) to \
                \(Int(range.upperBound)) seconds; found `\(text)`
                """
        case .flag: text == "true" || text == "false" ? nil : "must be true or false; found `\(text)`"
        case .choice(let names):
            names.contains(text) ? nil : "must be one of \(names.joined(separator: ", ")); found `\(text)`"
        case .list(let kind): kind.objection(to: text)
        case .structure: "must be a mapping or a list, not text; see Docs/configuration.md"
        }
    }

    var isList: Bool { if case .list = self { true } else { false } }

    /// Returns a value from a configuration file in `folder`. A relative path is relative to that folder, so the folder
    /// is put before it. Other values are returned as they are.
    package func resolved(_ text: String, in folder: String) -> String {
        func beside(_ path: Substring) -> String {
            path.hasPrefix("/") || folder.isEmpty || path.contains("://") ? String(path) : "\(folder)/\(path)"
        }
        switch self {
        case .path: return beside(text[...])
        case .trust:
            guard let equals = text.firstIndex(of: "=") else { return beside(text[...]) }
            return text[...equals] + beside(text[text.index(after: equals)...])
        case .list(let kind): return kind.resolved(text, in: folder)
        case .text, .number, .length, .flag, .choice, .structure: return text
        }
    }
}
