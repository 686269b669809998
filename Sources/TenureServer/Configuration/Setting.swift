import TenureCore
import TenurePolicyFile

/// One setting of the service: its names, its kind of value, and its meaning.
///
/// The file, the environment, the command line, `--help` and the table in `Docs/configuration.md` all come from
/// `Setting.all`. A new setting is one row there: its name, kind, key path in `ServeOptions`, and help.
package struct Setting: Sendable {
    /// The kind of a setting's value.
    package enum Kind: Sendable, Hashable {
        /// A path. In a file, it is relative to that file, unless it is absolute or has a scheme.
        case path
        /// A path of trusted certificates. `ENVIRONMENT=PATH` is for that environment only.
        case trust
        /// Any text; the associated value describes it in `--help`.
        case text(String)
        /// A whole number in the range.
        case number(ClosedRange<Int>)
        /// A length of time such as `24h`; the range is in seconds.
        case length(ClosedRange<Double>)
        /// `true` or `false`; on the command line, an option without a value means `true`.
        case flag
        /// One of these names.
        case choice([String])
        /// A list. In a file, it is a sequence. On the command line, each element is one option. In the environment,
        /// commas separate the elements.
        indirect case list(Kind)
        /// A structure, such as a list of mappings, which can be set only in a file.
        case structure
    }

    /// The name in the file. A dot separates the keys of nested mappings.
    package let name: String
    package let kind: Kind
    /// The default, in the form in which a configuration file has it; nil if the setting has no default.
    let fallback: String?
    /// The description for people: a noun phrase, without a final period.
    let summary: String
    /// The option on the command line, such as `--admin-key-file`.
    package let flag: String
    /// Whether the setting exists only on the command line, not in files and the environment.
    let isForCommandOnly: Bool
    /// Whether each of several apps has its own value. Other settings, such as the port, exist once for all apps.
    let isOfApp: Bool
    /// Sets the setting's property of `ServeOptions`; nil for a structure, which other code reads.
    let apply: (@Sendable (SettingValues, inout ServeOptions) -> Void)?

    init(
        _ name: String, _ kind: Kind, fallback: String? = nil, flag: String? = nil, isForCommandOnly: Bool = false,
        isOfApp: Bool = false, _ summary: String, apply: (@Sendable (SettingValues, inout ServeOptions) -> Void)? = nil
    ) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.summary = summary
        self.isForCommandOnly = isForCommandOnly
        self.isOfApp = isOfApp
        self.apply = apply
        self.flag = "--" + (flag ?? Self.words(of: name).joined(separator: "-"))
    }

    /// The environment variable, such as `TENURE_ADMIN_KEY_FILE`.
    package var variable: String {
        Self.variablePrefix + Self.words(of: name).map { $0.uppercased() }.joined(separator: "_")
    }

    /// The beginning of the name of each environment variable.
    static let variablePrefix = "TENURE_"

    /// Splits a name into words: `appStore.keyID` into app, store, key and id.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var wasSmall = false
        for character in name {
            if character == "." {
                wasSmall = false
                words.append("")
                continue
            }
            if words.isEmpty || (character.isUppercase && wasSmall) { words.append("") }
            words[words.count - 1] += character.lowercased()
            wasSmall = !character.isUppercase
        }
        return words.filter { !$0.isEmpty }
    }
}

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

/// Settings that set one property of `ServeOptions`. The property's initial value is the default.
extension Setting {
    /// The property that a setting sets.
    typealias Path<Value> = any WritableKeyPath<ServeOptions, Value> & Sendable

    /// Creates a setting for a number.
    init(_ name: String, _ range: ClosedRange<Int>, _ path: Path<Int>, isOfApp: Bool = false, _ summary: String) {
        self.init(name, .number(range), fallback: Self.fallback(path), isOfApp: isOfApp, summary) {
            if let value = $0.text(named: name).flatMap({ Int($0) }) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a whole number that is stored in a property of type `Double`.
    init(_ name: String, _ range: ClosedRange<Int>, _ path: Path<Double>, isOfApp: Bool = false, _ summary: String) {
        let fallback = ServeOptions.defaults.map { "\(Int($0[keyPath: path]))" }
        self.init(name, .number(range), fallback: fallback, isOfApp: isOfApp, summary) {
            if let value = $0.text(named: name).flatMap({ Double($0) }) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a length of time. The range is in seconds.
    init(
        _ name: String, _ range: ClosedRange<Double>, fallback: String, _ path: Path<Double>, isOfApp: Bool = false,
        _ summary: String
    ) {
        self.init(name, .length(range), fallback: fallback, isOfApp: isOfApp, summary) {
            let text = $0.text(named: name) ?? fallback
            if let value = TenurePolicyFile.Duration.seconds(text) { $1[keyPath: path] = value }
        }
    }

    /// Creates a setting for a string. If the property is initially empty, the setting has no default.
    init(_ name: String, _ kind: Kind, _ path: Path<String>, isOfApp: Bool = false, _ summary: String) {
        self.init(name, kind, fallback: Self.fallback(path), isOfApp: isOfApp, summary) {
            if let text = $0.text(named: name) { $1[keyPath: path] = text }
        }
    }

    /// Creates a setting for a string without a default.
    init(
        _ name: String, _ kind: Kind, _ path: Path<String?>, isForCommandOnly: Bool = false, isOfApp: Bool = false,
        _ summary: String
    ) {
        self.init(name, kind, isForCommandOnly: isForCommandOnly, isOfApp: isOfApp, summary) {
            $1[keyPath: path] = $0.text(named: name)
        }
    }

    /// Creates a setting for `true` or `false`.
    init(_ name: String, _ path: Path<Bool>, isForCommandOnly: Bool = false, _ summary: String) {
        let fallback = isForCommandOnly ? nil : Self.fallback(path)
        self.init(name, .flag, fallback: fallback, isForCommandOnly: isForCommandOnly, summary) {
            $1[keyPath: path] = $0.text(named: name) == "true"
        }
    }

    /// Creates a setting for one of several names.
    init<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ path: Path<Choice>, isOfApp: Bool = false, _ summary: String
    ) {
        let fallback = ServeOptions.defaults?[keyPath: path].rawValue
        self.init(name, .choice(Choice.allCases.map(\.rawValue)), fallback: fallback, isOfApp: isOfApp, summary) {
            if let choice = $0.text(named: name).flatMap({ Choice(rawValue: $0) }) { $1[keyPath: path] = choice }
        }
    }

    /// Creates a setting for a list. If the property is initially empty, the setting has no default.
    init(
        _ name: String, listOf kind: Kind, _ path: Path<[String]>, flag: String? = nil, isOfApp: Bool = false,
        _ summary: String
    ) {
        let fallback = ServeOptions.defaults?[keyPath: path].joined(separator: ", ")
        self.init(name, .list(kind), fallback: fallback == "" ? nil : fallback, flag: flag, isOfApp: isOfApp, summary) {
            if let texts = $0.list(named: name) { $1[keyPath: path] = texts }
        }
    }

    /// Returns the default as text: the property's initial value; nil if it is empty.
    private static func fallback<Value>(_ path: Path<Value>) -> String? {
        let text = ServeOptions.defaults.map { "\($0[keyPath: path])" }
        return text == "" ? nil : text
    }
}
