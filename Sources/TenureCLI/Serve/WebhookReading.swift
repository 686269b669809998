import Foundation
import TenureServer
import Yams

/// Reads `webhooks` in a configuration file. Reports all mistakes with their positions.
struct WebhookReading {
    private(set) var webhooks: [Webhook] = []
    private(set) var secretFiles: [String] = []
    private(set) var mistakes: [String] = []

    private static let keys = ["name", "url", "secretFile", "events", "eachCustomer", "allowPrivate"]

    /// - Parameters:
    ///   - place: returns a node's file, line and column.
    ///   - beside: resolves a path relative to the file.
    init(_ node: Node, place: (Node) -> String, beside: (String) -> String) {
        guard let sequence = node.sequence else {
            mistakes.append("\(place(node)): `webhooks` isn't a list; write `- name: …` below it")
            return
        }
        for node in sequence {
            guard let mapping = node.mapping else {
                mistakes.append("\(place(node)): a webhook isn't a mapping; write `name`, `url` and `secretFile`")
                continue
            }
            let earlierMistakes = mistakes.count
            for (key, _) in mapping where !Self.keys.contains(key.string ?? "") {
                mistakes.append(
                    "\(place(key)): a webhook has no `\(key.string ?? "")`; its keys are \(Self.keys.joined(separator: ", "))"
                )
            }
            // Returns a string that the webhook must have. If it is missing, reports a mistake and returns an empty
            // string.
            func required(_ key: String) -> String {
                if let text = mapping[Node(key)]?.string, !text.isEmpty { return text }
                mistakes.append(
                    "\(place(mapping[Node(key)] ?? node)): `\(key)` of a webhook is missing or isn't a string; write it"
                )
                return ""
            }
            var webhook = Webhook(name: required("name"), url: required("url"), secrets: [])
            let secretFile = required("secretFile")
            secretFiles.append(beside(secretFile))
            if let events = mapping["events"] {
                let names = events.sequence?.compactMap(\.string) ?? []
                if let sequence = events.sequence, names.count == sequence.count {
                    webhook.events = names
                } else {
                    mistakes.append(
                        "\(place(events)): `events` isn't a list; write types such as `[entitlement.granted]`")
                }
            }
            for (key, property) in [("eachCustomer", \Webhook.eachCustomer), ("allowPrivate", \Webhook.allowsPrivate)] {
                guard let flag = mapping[Node(key)] else { continue }
                if let value = flag.bool {
                    webhook[keyPath: property] = value
                } else {
                    mistakes.append("\(place(flag)): `\(key)` isn't a Boolean; write `true` or `false`")
                }
            }
            if mistakes.count == earlierMistakes {
                do {
                    webhook.secrets = try Webhook.secrets(in: beside(secretFile))
                } catch {
                    mistakes.append("\(place(mapping["secretFile"] ?? node)): \(error)")
                }
            }
            webhooks.append(webhook)
        }
    }
}
