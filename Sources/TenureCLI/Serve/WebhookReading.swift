import Foundation
import TenureServer
import Yams

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
