import Foundation
import TenurePostgres
import TenureServer
import Yams

/// The configuration file of `tenure serve`.
struct ServiceFile {
    private let path: String
    /// The folder of the file, to which paths in the file are relative.
    private let folder: String
    /// Whether other users can read the file. Set by `read`.
    private var isOpenToOthers = false

    init(path: String) {
        self.path = path
        folder = (path as NSString).deletingLastPathComponent
    }

    /// Adds the file's settings to `values`, and its mistakes, one line each with its position in the file.
    mutating func read(into values: inout SettingValues) {
        let node: Node?
        do {
            guard let contents = try SecretFile(path: path).contentsIfAny(upTo: 1 << 20) else {
                throw CommandError(
                    path.isEmpty
                        ? "the path of the configuration file is empty; unset $TENURE_CONFIG, or write a path"
                        : "there is no file `\(path)`; check the path")
            }
            isOpenToOthers = contents.isOpenToOthers
            node = try Yams.compose(yaml: String(decoding: contents.bytes, as: UTF8.self))
        } catch let error as CommandError {
            values.addMistake(error.description)
            return
        } catch ServiceError.keyFile(_, let detail) {
            values.addMistake("`\(path)` can't be read: \(detail)")
            return
        } catch let error as YamlError {
            // The parser's own message quotes the line, which may contain a password.
            values.addMistake("`\(path)` isn't valid YAML: \(Self.problem(in: error))")
            return
        } catch {
            values.addMistake("`\(path)` isn't valid YAML; check its syntax")
            return
        }
        guard let mapping = node?.mapping else {
            values.addMistake("`\(path)` has no settings; write a setting on each line, such as `port: 8081`")
            return
        }
        read(mapping, under: "", as: Setting.configurable, into: &values)
        readApps(mapping, into: &values)
    }

    /// Reads the settings in a mapping. For example, `key` under the prefix `tls.` is the setting `tls.key`.
    ///
    /// - Parameter settings: the settings that the mapping may have.
    private func read(
        _ mapping: Node.Mapping, under prefix: String, as settings: [Setting], into values: inout SettingValues
    ) {
        for (key, node) in mapping {
            let name = prefix + (key.string ?? "")
            if name == Setting.webhooks.name {
                let reading = WebhookReading(node, position: position, resolvedPath: resolvedPath)
                values.webhooks = reading.webhooks
                values.secretFilesOfWebhooks = reading.secretFiles
                reading.mistakes.forEach { values.addMistake($0) }
            } else if name == Setting.apps.name, settings.contains(where: { $0.name == name }) {
                // `readApps` reads the apps after the other settings.
                continue
            } else if let setting = settings.first(where: { $0.name == name }) {
                read(setting, from: node, into: &values)
            } else if settings.contains(where: { $0.name.hasPrefix(name + ".") }) {
                if let inner = node.mapping {
                    read(inner, under: name + ".", as: settings, into: &values)
                } else {
                    let names = settings.map(\.name).filter { $0.hasPrefix(name + ".") }
                    values.addMistake(
                        "\(position(node)): `\(name)` must be a mapping with these settings: \(names.joined(separator: ", "))"
                    )
                }
            } else {
                let names = settings.map(\.name).joined(separator: ", ")
                let scope = settings.count == Setting.configurable.count ? "" : " for an app"
                values.addMistake("\(position(key)): there is no setting `\(name)`\(scope); the settings are \(names)")
            }
        }
    }

    /// Reads `apps`: a mapping with the name of each app, and the app's own settings.
    private func readApps(_ mapping: Node.Mapping, into values: inout SettingValues) {
        guard let node = mapping["apps"] else { return }
        guard let apps = node.mapping, !apps.isEmpty else {
            let problem = node.mapping == nil ? "isn't a mapping" : "is empty"
            values.addMistake("\(position(node)): `apps` \(problem); write each app's name, with its settings below it")
            return
        }
        for name in ["policy", "database", "keys", "webhooks"] {
            if let node = mapping[Node(name)] {
                values.addMistake(
                    "\(position(node)): each app of `apps` has its own `\(name)`; move it below an app's name")
            }
        }
        for (key, node) in apps {
            let name = key.string ?? ""
            if Setting.appsDefault.name == "apps." + name, node.mapping == nil {
                read(.appsDefault, from: node, into: &values)
                continue
            }
            guard let mapping = node.mapping else {
                values.addMistake(
                    "\(position(key)): the app `\(name)` has no settings; it needs `policy` and `database`")
                continue
            }
            for needed in ["policy", "database"] where mapping[Node(needed)] == nil {
                values.addMistake("\(position(key)): the app `\(name)` needs `\(needed)`")
            }
            var appValues = SettingValues()
            read(mapping, under: "", as: Setting.ofApp, into: &appValues)
            appValues.mistakes.forEach { values.addMistake($0) }
            if !appValues.isSet(.keys) { appValues.set(.keys, to: [resolvedPath("keys/\(name)")], at: position(key)) }
            values.apps.append((name, appValues))
        }
    }

    /// Reads the value of one setting.
    private func read(_ setting: Setting, from node: Node, into values: inout SettingValues) {
        var words = node.scalar.map { [$0.string] }
        if case .list = setting.kind, let sequence = node.sequence {
            let texts = sequence.compactMap { $0.scalar?.string }
            words = texts.count == sequence.count ? texts : nil
        }
        guard let words else {
            let wanted = if case .list = setting.kind { "a value or a list of values" } else { "a single value" }
            values.addMistake("\(position(node)): `\(setting.name)` isn't \(wanted); see `tenure serve --help`")
            return
        }
        // `port:` without a value.
        if node.null != nil, words == [""] {
            values.addMistake("\(position(node)): `\(setting.name)` has no value; write one, or remove the setting")
            return
        }
        if isOpenToOthers, words.contains(where: PostgresAddress.holdsPassword) {
            values.addMistake(
                "\(position(node)): `\(setting.name)` contains a password, and \(SecretFile.openToOthers)")
        }
        values.set(setting, to: words.map { setting.kind.resolved($0, in: folder) }, at: position(node))
    }

    /// Returns what is wrong with the YAML, without quoting the file.
    private static func problem(in error: YamlError) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(problem) in line \(mark.line), column \(mark.column)"
        case .duplicatedKeysInMapping(let names, _):
            "\(names.map { "`\($0)`" }.joined(separator: ", ")) is written twice"
        default: "it can't be parsed"
        }
    }

    /// Resolves a path in the file, which is relative to the file's folder.
    func resolvedPath(_ path: String) -> String { Setting.Kind.path.resolved(path, in: folder) }

    /// Returns a node's file, line and column, such as `tenure.yaml:3:7`.
    func position(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1)" }
}

/// Reads `webhooks` in a configuration file, and collects all mistakes with their positions.
struct WebhookReading {
    private(set) var webhooks: [Webhook] = []
    /// The paths of the files with the webhooks' secrets.
    private(set) var secretFiles: [String] = []
    private(set) var mistakes: [String] = []

    private static let keys = ["name", "url", "secretFile", "events", "eachCustomer", "allowPrivate"]

    /// - Parameters:
    ///   - position: returns a node's file, line and column.
    ///   - resolvedPath: resolves a path that is relative to the configuration file.
    init(_ node: Node, position: (Node) -> String, resolvedPath: (String) -> String) {
        guard let sequence = node.sequence else {
            mistakes.append("\(position(node)): `webhooks` isn't a list; write `- name: …` below it")
            return
        }
        for node in sequence {
            guard let mapping = node.mapping else {
                mistakes.append("\(position(node)): a webhook isn't a mapping; write `name`, `url` and `secretFile`")
                continue
            }
            let earlierMistakes = mistakes.count
            for (key, _) in mapping where !Self.keys.contains(key.string ?? "") {
                mistakes.append(
                    "\(position(key)): a webhook has no `\(key.string ?? "")`; its keys are \(Self.keys.joined(separator: ", "))"
                )
            }
            // Returns a string that the webhook must have. If it is missing, reports a mistake and returns an empty
            // string.
            func required(_ key: String) -> String {
                if let text = mapping[Node(key)]?.string, !text.isEmpty { return text }
                mistakes.append(
                    "\(position(mapping[Node(key)] ?? node)): `\(key)` of a webhook is missing or isn't a string; write it"
                )
                return ""
            }
            var webhook = Webhook(name: required("name"), url: required("url"), secrets: [])
            let secretFile = required("secretFile")
            secretFiles.append(resolvedPath(secretFile))
            if let events = mapping["events"] {
                let names = events.sequence?.compactMap(\.string) ?? []
                if let sequence = events.sequence, names.count == sequence.count {
                    webhook.events = names
                } else {
                    mistakes.append(
                        "\(position(events)): `events` isn't a list; write types such as `[entitlement.granted]`")
                }
            }
            for (key, property) in [("eachCustomer", \Webhook.eachCustomer), ("allowPrivate", \Webhook.allowsPrivate)] {
                guard let flag = mapping[Node(key)] else { continue }
                if let value = flag.bool {
                    webhook[keyPath: property] = value
                } else {
                    mistakes.append("\(position(flag)): `\(key)` isn't a Boolean; write `true` or `false`")
                }
            }
            if mistakes.count == earlierMistakes {
                do {
                    webhook.secrets = try Webhook.secrets(in: resolvedPath(secretFile))
                } catch {
                    mistakes.append("\(position(mapping["secretFile"] ?? node)): \(error)")
                }
            }
            webhooks.append(webhook)
        }
    }
}
