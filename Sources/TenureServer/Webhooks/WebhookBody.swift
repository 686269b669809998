import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension StoredMessage {
    /// Returns the JSON body of the webhook's request, with the same bytes in every attempt and replay. The body never
    /// contains what the App Store signed.
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
