import Foundation
import TenureAPI
import TenureJSON
import TenureStore

extension Webhook {
    /// Sends one message of the type `test`. The message is signed and sent like any other message, but isn't in the
    /// outbox, and is sent only once.
    ///
    /// - Returns: Whether the message was delivered, and a description of the result for people.
    /// - Throws: `ServiceError.webhook` if the webhook's settings have a mistake.
    public func test(app bundleID: String? = nil) async throws(ServiceError) -> (isDelivered: Bool, summary: String) {
        if let mistake { throw mistake }
        let target: WebhookTarget
        do {
            target = try WebhookTarget(url, allowsPrivate: allowsPrivate)
        } catch {
            throw .webhook(name: name, detail: error.detail)
        }
        let event = PublicID.event.random()
        let json = JSONWriter.object { json in
            json.field("id", event)
            json.field("type", "test")
            json.field("time", Date())
            json.field("app", ifPresent: bundleID)
        }
        let headers = [
            (WebhookSignature.header, WebhookSignature.text(of: json, at: Date(), secrets: secrets)),
            (WebhookSignature.eventHeader, event),
        ]
        switch await (try WebhookSender()).send(json, headers: headers, to: target) {
        case .status(let status, _) where (200..<300).contains(status):
            return (true, "delivered: the endpoint answered \(status)")
        case .status(let status, _) where (300..<400).contains(status):
            return (
                false,
                "the endpoint redirects (\(status)), and redirects aren't followed; configure the URL to which it redirects"
            )
        case .status(let status, _): return (false, "the endpoint answered \(status) instead of 2xx")
        case .noResponse(let detail): return (false, detail)
        }
    }

    /// Reads the secrets of a file, one on each line, the newest first.
    ///
    /// Throws `keyFile` if the file can't be read, or if users other than its owner can read it.
    package static func secrets(in path: String) throws(ServiceError) -> [String] {
        let contents = try SecretFile(path: path).existingContents()
        return String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
