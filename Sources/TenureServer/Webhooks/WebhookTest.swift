import Foundation
import TenureAPI
import TenureJSON
import TenureStore

extension Webhook {
    /// Sends a message of the type `test` once, as the service would send any. What came of it, in words.
    ///
    /// Throws where the webhook itself has a mistake.
    public func test(app bundleID: String? = nil) async throws(ServiceError) -> (isDelivered: Bool, words: String) {
        if let mistake { throw mistake }
        let target: WebhookTarget
        do {
            target = try WebhookTarget(url, allowsPrivate: allowsPrivate)
        } catch {
            throw .webhook(name: name, detail: error.detail)
        }
        let event = PublicID.event.random()
        var json = JSONWriter()
        json.object { json in
            json.key("id")
            json.value(event)
            json.key("type")
            json.value("test")
            json.key("time")
            json.value(Date())
            if let bundleID {
                json.key("app")
                json.value(bundleID)
            }
        }
        let headers = [
            (WebhookSignature.header, WebhookSignature.text(of: json.bytes, at: Date(), secrets: secrets)),
            (WebhookSignature.eventHeader, event),
        ]
        switch await (try WebhookSender()).send(json.bytes, headers: headers, to: target) {
        case .status(let status, _) where (200..<300).contains(status):
            return (true, "delivered: it answered \(status)")
        case .status(let status, _) where (300..<400).contains(status):
            return (false, "it redirects (\(status)), which is not followed; configure where it leads")
        case .status(let status, _): return (false, "it answered \(status), and 2xx is wanted")
        case .none(let words): return (false, words)
        }
    }

    /// The secrets of a file, one a line, the newest first.
    ///
    /// Throws `keyFile` where it cannot be read, or others than its owner can.
    public static func secrets(in path: String) throws(ServiceError) -> [String] {
        let contents = try SecretFile(path: path).existingContents()
        return String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
