import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension StoredMessage {
    /// Returns the JSON body of the webhook's request, with the same bytes in every attempt and replay. It never contains
    /// an artifact.
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
        // The service made `data`, so it is valid JSON and is appended unchanged.
        json.key("data")
        return json.bytes + data + [UInt8(ascii: "}")]
    }
}
