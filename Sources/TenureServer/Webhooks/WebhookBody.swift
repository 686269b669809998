import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension StoredMessage {
    /// The body of the request, with the same bytes in every attempt and replay. It never contains an artifact.
    func body(app bundleID: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("id")
        json.value(event)
        json.key("type")
        json.value(type)
        json.key("time")
        json.value(createdAt)
        json.key("app")
        json.value(bundleID)
        if let realm {
            json.key("environment")
            json.value(realm.environment.rawValue)
            if realm.isTest {
                json.key("isTest")
                json.value(true)
            }
        }
        if let publicID {
            json.key("customer")
            json.object { json in
                json.key("id")
                json.value(publicID)
                if !userIDs.isEmpty {
                    json.key("userIDs")
                    json.value(userIDs)
                }
            }
        }
        // This service wrote it, so it is a valid JSON object.
        json.key("data")
        return json.bytes + data + [UInt8(ascii: "}")]
    }
}
