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
        var wasLowercase = false
        for character in name {
            if character == "." {
                wasLowercase = false
                words.append("")
                continue
            }
            if words.isEmpty || (character.isUppercase && wasLowercase) { words.append("") }
            words[words.count - 1] += character.lowercased()
            wasLowercase = !character.isUppercase
        }
        return words.filter { !$0.isEmpty }
    }
}
