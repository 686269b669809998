import Foundation
import TenureServer
import Yams

/// The configuration file of `tenure serve`: each option under its name. Paths are relative to the file.
struct ServiceFile {
    var policy: String?
    var database: String?
    var host: String?
    var port: Int?
    var trust: [String]?
    var environments: [String]?
    var adminKeyFile: String?
    var behindProxy: Bool?
    var testAnchorsBeyondLoopback: Bool?
    var logLevel: String?
    var webhooks: [Webhook] = []
    var webhookTerms = WebhookTerms()
    /// Where the keys lie; nil: beside the database.
    var keys: String?
    /// Several apps, each with settings of its own, in the order of the file.
    var apps: [App] = []

    struct App {
        let name: String
        let settings: ServiceFile
    }

    init() {}

    private static let names = [
        "policy", "database", "host", "port", "trust", "environments", "adminKeyFile", "behindProxy",
        "testAnchorsBeyondLoopback", "logLevel", "webhooks", "expiringDays", "webhookRetentionDays",
        "keys", "apps",
    ]

    /// Those of each app; the others are of the address, and stand once.
    private static let namesOfApp = [
        "policy", "database", "keys", "trust", "environments", "webhooks", "expiringDays", "webhookRetentionDays",
    ]

    /// Throws one line for each mistake.
    init(path: String) throws {
        let text = String(decoding: try InputFile(path: path).bytes(limit: 1 << 20), as: UTF8.self)
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch {
            throw CommandError("`\(path)` is no YAML: \(error)")
        }
        guard let mapping = node?.mapping else {
            throw CommandError("`\(path)` holds no settings; write one a line, such as `port: 8081`")
        }
        var mistakes: [String] = []
        self.init(mapping, in: path, names: Self.names, mistakes: &mistakes)
        if !mistakes.isEmpty { throw CommandError(mistakes.joined(separator: "\n")) }
    }

    private init(_ mapping: Node.Mapping, in path: String, names: [String], mistakes: inout [String]) {
        var found: [String] = []
        defer { mistakes += found }
        func place(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1)" }
        for (key, _) in mapping where !names.contains(key.string ?? "") {
            found.append(
                "\(place(key)): there is no setting `\(key.string ?? "")` here; the settings are \(names.joined(separator: ", "))"
            )
        }
        func setting<Value>(_ key: String, _ wanted: String, _ read: (Node) -> Value?) -> Value? {
            guard let node = mapping[Node(key)] else { return nil }
            if let value = read(node) { return value }
            found.append("\(place(node)): `\(key)` is \(wanted)")
            return nil
        }
        let folder = (path as NSString).deletingLastPathComponent
        func beside(_ file: String) -> String { file.hasPrefix("/") || folder.isEmpty ? file : folder + "/" + file }
        func texts(_ node: Node) -> [String]? {
            guard let sequence = node.sequence else { return node.string.map { [$0] } }
            let texts = sequence.compactMap(\.string)
            return texts.count == sequence.count ? texts : nil
        }
        policy = setting("policy", "a path") { $0.string }.map(beside)
        database = setting("database", "a path") { $0.string }.map(beside)
        host = setting("host", "an address") { $0.string }
        port = setting("port", "a number from 0 to 65535") { $0.int }
        trust = setting("trust", "a path, or a list of paths", texts)?.map(beside)
        environments = setting("environments", "a list of production, sandbox and xcode", texts)
        adminKeyFile = setting("adminKeyFile", "a path") { $0.string }.map(beside)
        behindProxy = setting("behindProxy", "true or false") { $0.bool }
        testAnchorsBeyondLoopback = setting("testAnchorsBeyondLoopback", "true or false") { $0.bool }
        logLevel = setting("logLevel", "a level such as info") { $0.string }
        if let days = setting("expiringDays", "a number of days", { $0.int }) { webhookTerms.expiringDays = days }
        if let days = setting("webhookRetentionDays", "a number of days", { $0.int }) {
            webhookTerms.retentionDays = days
        }
        if let node = mapping["webhooks"] {
            let reading = WebhookReading(node, place: place, beside: beside)
            webhooks = reading.webhooks
            found += reading.mistakes
        }
        keys = setting("keys", "a folder") { $0.string }.map(beside)
        guard let node = mapping["apps"] else { return }
        guard let apps = node.mapping, !apps.isEmpty else {
            found.append("\(place(node)): `apps` names each app, with its settings below it")
            return
        }
        for name in ["policy", "database", "keys", "webhooks"] {
            if let node = mapping[Node(name)] {
                found.append("\(place(node)): beside `apps`, each app has its own `\(name)`")
            }
        }
        for (key, node) in apps {
            let name = key.string ?? ""
            guard let mapping = node.mapping else {
                found.append("\(place(key)): the app `\(name)` has no settings; it needs `policy` and `database`")
                continue
            }
            for needed in ["policy", "database"] where mapping[Node(needed)] == nil {
                found.append("\(place(key)): the app `\(name)` needs `\(needed)`")
            }
            var settings = ServiceFile(mapping, in: path, names: Self.namesOfApp, mistakes: &found)
            settings.keys = settings.keys ?? beside("keys/\(name)")
            self.apps.append(App(name: name, settings: settings))
        }
    }
}
