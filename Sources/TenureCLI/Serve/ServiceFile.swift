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

    init() {}

    private static let keys = [
        "policy", "database", "host", "port", "trust", "environments", "adminKeyFile", "behindProxy",
        "testAnchorsBeyondLoopback", "logLevel", "webhooks", "expiringDays", "webhookRetentionDays",
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
        func place(_ node: Node) -> String { "\(path):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1)" }
        for (key, value) in mapping where !Self.keys.contains(key.string ?? "") {
            mistakes.append(
                "\(place(key)): there is no setting `\(key.string ?? "")`; the settings are \(Self.keys.joined(separator: ", "))"
            )
            _ = value
        }
        func setting<Value>(_ key: String, _ wanted: String, _ read: (Node) -> Value?) -> Value? {
            guard let node = mapping[Node(key)] else { return nil }
            if let value = read(node) { return value }
            mistakes.append("\(place(node)): `\(key)` is \(wanted)")
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
            mistakes += reading.mistakes
        }
        if !mistakes.isEmpty { throw CommandError(mistakes.joined(separator: "\n")) }
    }
}
