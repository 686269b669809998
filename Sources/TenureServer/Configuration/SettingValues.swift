import Foundation

/// The values of settings from a file, the environment and the command line. A later value overrides an earlier value.
package struct SettingValues: Sendable {
    /// The values of each setting, by its name. Only lists have several values.
    private var texts: [String: [String]] = [:]
    /// The mistakes, one line each. A mistake in a value begins with where the value was set, such as an option's name
    /// or a line of the file.
    package private(set) var mistakes: [String] = []

    /// The webhook endpoints.
    package var webhooks: [Webhook] = []
    /// The paths of the files with the secrets of webhooks.
    package var secretFilesOfWebhooks: [String] = []
    /// Several apps in one service, in the order of the file, each with its own settings.
    package var apps: [(name: String, values: SettingValues)] = []

    package init() {}

    /// Returns the settings of one of several apps: the app's own values override the common values.
    package func overlaid(by app: SettingValues) -> SettingValues {
        var overlaid = self
        overlaid.texts.merge(app.texts) { $1 }
        overlaid.webhooks = app.webhooks
        overlaid.apps = []
        return overlaid
    }

    /// Returns the settings of one of several apps, where only `settings` of the app override the common values.
    package func overlaid(by app: SettingValues, only settings: [Setting]) -> SettingValues {
        var selected = SettingValues()
        selected.texts = app.texts.filter { text in settings.contains { $0.name == text.key } }
        return overlaid(by: selected)
    }

    /// Whether the setting has a value, apart from its default.
    package func isSet(_ setting: Setting) -> Bool { texts[setting.name] != nil }

    // MARK: Reading

    /// Sets the values of one setting. If a value is invalid, adds to `mistakes` instead.
    ///
    /// - Parameter source: Where the values were set, such as `--port` or a line of the file, for messages.
    package mutating func set(_ setting: Setting, to values: [String], at source: String) {
        if values.isEmpty, !setting.kind.isList {
            return addMistake("\(source): `\(setting.name)` has no value")
        }
        let objections = values.compactMap { value in
            setting.kind.objection(to: value).map { "\(source): `\(setting.name)` \($0)" }
        }
        mistakes += objections
        if objections.isEmpty { texts[setting.name] = values }
    }

    /// Adds a mistake that other code found.
    package mutating func addMistake(_ mistake: String) { mistakes.append(mistake) }

    /// Reads the environment variables of all settings.
    ///
    /// Returns a message about each unknown name with Tenure's prefix, because such a name is probably misspelled. The
    /// caller decides whether the message is a mistake or a warning.
    package mutating func read(environment: [String: String]) -> [String] {
        let settings = Setting.configurable.filter { $0.kind != .structure }
        for setting in settings {
            guard let text = environment[setting.variable] else { continue }
            let values = setting.kind.isList ? Self.elements(of: text) : [text]
            set(setting, to: values, at: "$\(setting.variable)")
        }
        let variables = Set(settings.map(\.variable) + [Setting.config.variable])
        let unknown = environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) && !variables.contains($0) }
        return unknown.sorted().map {
            "there is no setting `\($0)`; unset it, or see `tenure serve --help` for the names"
        }
    }

    /// Wrong usage of the command line.
    package struct UsageError: Error, Sendable, CustomStringConvertible { package let description: String }

    /// Reads `--name value`, `--name=value` and, for flags, `--name`.
    package mutating func read(arguments: [String]) throws(UsageError) {
        var lists: [String: [String]] = [:]
        var remaining = arguments[...]
        while let argument = remaining.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, name.hasPrefix("--"),
                let setting = Setting.all.first(where: { $0.flag == name && $0.kind != .structure })
            else {
                throw UsageError(
                    description: "there is no setting `\(argument)`; `tenure serve --help` lists all settings")
            }
            let value: String
            if parts.count == 2 {
                value = String(parts[1])
            } else if setting.kind == .flag {
                value = "true"
            } else if let next = remaining.first, !next.hasPrefix("--") {
                value = next
                remaining.removeFirst()
            } else {
                throw UsageError(description: "`\(setting.flag)` needs a value after it")
            }
            if setting.kind.isList { lists[setting.name, default: []].append(value) }
            set(setting, to: lists[setting.name] ?? [value], at: setting.flag)
        }
    }

    // MARK: Values

    /// The values of a list; nil if the setting isn't set and has no default.
    package func list(_ setting: Setting) -> [String]? { texts[setting.name] ?? setting.fallback.map(Self.elements) }

    /// The value of a setting, or its default.
    package func text(_ setting: Setting) -> String? { texts[setting.name]?.last ?? setting.fallback }

    /// The value of the setting with this name, without its default.
    func text(named name: String) -> String? { texts[name]?.last }

    /// The values of the list with this name, without its default.
    func list(named name: String) -> [String]? { texts[name] }

    private static func elements(of list: String) -> [String] {
        list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    // MARK: Files

    /// The paths of the files in the settings, and of the key files that the service made, so that no command
    /// overwrites them.
    ///
    /// Not among them are databases, the files of each of several apps, and the certificates to trust.
    package var files: [String] {
        let files = Setting.all.filter { $0.kind == .path && $0.name != Setting.database.name }.compactMap { text($0) }
        let database = isSet(.database) ? text(.database) : nil
        let folder = text(.keys) ?? database.map { ($0 as NSString).deletingLastPathComponent }
        return files + (folder.map { Self.keys(in: $0) } ?? []) + secretFilesOfWebhooks
    }

    /// The files of the keys that a service makes in a folder.
    package static func keys(in folder: String) -> [String] {
        [SigningKeyStore.fileName, AccessTokenKey.fileName].map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    }
}
