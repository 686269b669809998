import Foundation
import TenurePostgres
import TenureServer
import Yams

/// The configuration file of `tenure serve`.
struct ServiceFile {
    let path: String
    /// Whether other users can read the file. Set by `read`.
    var isOpenToOthers = false

    /// The folder of the file, to which paths in the file are relative.
    private var folder: String { (path as NSString).deletingLastPathComponent }

    /// Adds the file's settings to `values`, and its mistakes, one line each with its position in the file.
    mutating func read(into values: inout SettingValues) {
        let node: Node?
        do {
            guard let contents = try SecretFile(path: path).contentsIfAny(upTo: 1 << 20) else {
                return values.addMistake(
                    path.isEmpty
                        ? "the path of the configuration file is empty; unset $TENURE_CONFIG, or write a path"
                        : "there is no file `\(path)`; check the path")
            }
            isOpenToOthers = contents.isOpenToOthers
            node = try Yams.compose(yaml: String(decoding: contents.bytes, as: UTF8.self))
        } catch ServiceError.keyFile(_, let detail) {
            return values.addMistake("`\(path)` can't be read: \(detail)")
        } catch let error as YamlError {
            // The parser's own message quotes the line, which may contain a password.
            return values.addMistake("`\(path)` isn't valid YAML: \(Self.problem(in: error))")
        } catch {
            return values.addMistake("`\(path)` isn't valid YAML; check its syntax")
        }
        guard let mapping = node?.mapping else {
            return values.addMistake("`\(path)` has no settings; write a setting on each line, such as `port: 8081`")
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
                readWebhooks(node, into: &values)
            } else if name == Setting.apps.name, settings.contains(where: { $0.name == name }) {
                // `readApps` reads the apps after the other settings.
                continue
            } else if let setting = settings.first(where: { $0.name == name }) {
                read(setting, from: node, into: &values)
            } else if settings.contains(where: { $0.name.hasPrefix(name + ".") }) {
                if let inner = node.mapping {
                    read(inner, under: name + ".", as: settings, into: &values)
                } else {
                    let names = settings.map(\.name).filter { $0.hasPrefix(name + ".") }.joined(separator: ", ")
                    values.addMistake("\(position(node)): `\(name)` must be a mapping with these settings: \(names)")
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
            return values.addMistake(
                "\(position(node)): `apps` \(problem); write each app's name, with its settings below it")
        }
        for name in ["policy", "database", "keys", "webhooks"] {
            if let node = mapping[Node(name)] {
                values.addMistake(
                    "\(position(node)): each app of `apps` has its own `\(name)`; move it below an app's name")
            }
        }
        for (key, node) in apps {
            let name = key.string ?? ""
            // `apps.default` is a setting: the name of the default app. With a mapping as its value, it is an app.
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
            return values.addMistake("\(position(node)): `\(setting.name)` isn't \(wanted); see `tenure serve --help`")
        }
        // `port:` without a value.
        if node.null != nil, words == [""] {
            return values.addMistake(
                "\(position(node)): `\(setting.name)` has no value; write one, or remove the setting")
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
    private func resolvedPath(_ path: String) -> String { Setting.Kind.path.resolved(path, in: folder) }

    /// Returns a node's file, line and column, such as `tenure.yaml:3:7`.
    private func position(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1)" }
}

/// Reads `webhooks`: a list of mappings.
extension ServiceFile {
    private static let webhookKeys = ["name", "url", "secretFile", "events", "eachCustomer", "allowPrivate"]

    private func readWebhooks(_ node: Node, into values: inout SettingValues) {
        guard let sequence = node.sequence else {
            return values.addMistake("\(position(node)): `webhooks` isn't a list; write `- name: …` below it")
        }
        for node in sequence {
            guard let mapping = node.mapping else {
                values.addMistake("\(position(node)): a webhook isn't a mapping; write `name`, `url` and `secretFile`")
                continue
            }
            let earlierMistakes = values.mistakes.count
            for (key, _) in mapping where !Self.webhookKeys.contains(key.string ?? "") {
                let keys = Self.webhookKeys.joined(separator: ", ")
                values.addMistake("\(position(key)): a webhook has no `\(key.string ?? "")`; its keys are \(keys)")
            }
            // Returns the string of a key that the webhook must have. If it is missing or empty, adds a mistake and
            // returns an empty string.
            func required(_ key: String) -> String {
                if let text = mapping[Node(key)]?.string, !text.isEmpty { return text }
                let position = position(mapping[Node(key)] ?? node)
                values.addMistake("\(position): `\(key)` of a webhook is missing or isn't a string; write it")
                return ""
            }
            var webhook = Webhook(name: required("name"), url: required("url"), secrets: [])
            let secretFile = resolvedPath(required("secretFile"))
            values.secretFilesOfWebhooks.append(secretFile)
            if let events = mapping["events"] {
                let names = events.sequence?.compactMap(\.string) ?? []
                if let sequence = events.sequence, names.count == sequence.count {
                    webhook.events = names
                } else {
                    values.addMistake(
                        "\(position(events)): `events` isn't a list; write types such as `[entitlement.granted]`")
                }
            }
            for (key, property) in [("eachCustomer", \Webhook.eachCustomer), ("allowPrivate", \Webhook.allowsPrivate)] {
                guard let flag = mapping[Node(key)] else { continue }
                if let value = flag.bool {
                    webhook[keyPath: property] = value
                } else {
                    values.addMistake("\(position(flag)): `\(key)` isn't a Boolean; write `true` or `false`")
                }
            }
            if values.mistakes.count == earlierMistakes {
                do {
                    webhook.secrets = try Webhook.secrets(in: secretFile)
                } catch {
                    values.addMistake("\(position(mapping["secretFile"] ?? node)): \(error)")
                }
            }
            values.webhooks.append(webhook)
        }
    }
}
