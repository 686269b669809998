import Crypto
import Foundation
import TenureCore
import TenureJSON
import TenureStore

/// The body of a webhook's request.
extension StoredMessage {
    /// Returns the body, JSON with the same bytes in every attempt and replay. It never contains the signed artifacts
    /// of the App Store.
    func body(app bundleID: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.field("id", event)
        json.field("type", type)
        json.field("time", createdAt)
        json.field("app", bundleID)
        if let realm {
            json.field("environment", realm.environment.rawValue)
            if realm.isTest { json.field("isTest", true) }
        }
        if let publicID {
            json.object("customer") { json in
                json.field("id", publicID)
                if !userIDs.isEmpty { json.field("userIDs", userIDs) }
            }
        }
        // `data` is JSON that the service made when it queued the message, so its bytes are appended unchanged.
        json.key("data")
        return json.bytes + data + [UInt8(ascii: "}")]
    }
}

/// The signature of a webhook message, HMAC-SHA256 over the time and the body. The signature proves to the developer's
/// server that the service sent the message, and when.
enum WebhookSignature {
    /// Returns the headers of a message: its signature, and its ID `event`, which is the same in every attempt.
    static func headers(of body: [UInt8], event: String, at date: Date, secrets: [String]) -> [(String, String)] {
        [("Tenure-Signature", text(of: body, at: date, secrets: secrets)), ("Tenure-Event-ID", event)]
    }

    /// Returns the value of the header with the signature, `t=<seconds since 1970>,v1=<hexadecimal>`, with one `v1` for
    /// each secret.
    static func text(of body: [UInt8], at date: Date, secrets: [String]) -> String {
        let time = String(date.millisecondsSince1970 / 1000)
        let signed = Array(time.utf8) + [UInt8(ascii: ".")] + body
        let codes = secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: Array(secret.utf8)))
            return ",v1=" + code.hexadecimal
        }
        return "t=" + time + codes.joined()
    }
}
