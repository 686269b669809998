import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenureJSON

/// Who asks the App Store: the key of one app's In-App Purchase.
struct AppStoreCredentials: Sendable {
    let issuerID: String
    let keyID: String
    let bundleID: String
    private let key: Secret<P256.Signing.PrivateKey>

    init(issuerID: String, keyID: String, bundleID: String, key: P256.Signing.PrivateKey) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.bundleID = bundleID
        self.key = Secret(key)
    }

    /// Reads the key. Throws `appStore` or `keyFile`, with what to do.
    init(_ settings: AppStoreSettings, bundleID: String) throws(ServiceError) {
        if let mistake = settings.mistake { throw mistake }
        self.init(
            issuerID: settings.issuerID, keyID: settings.keyID, bundleID: bundleID,
            key: try AppStoreKeyFile(path: settings.privateKeyFile).key())
    }

    /// Seconds. Apple takes up to an hour; its own libraries sign for five minutes.
    static let lifetime: TimeInterval = 5 * 60

    /// A JWT as the App Store Server API wants it, good for `lifetime`.
    func token(issuedAt now: Date) throws -> String {
        let issued = now.timeIntervalSince1970.rounded(.down)
        var claims = JSONWriter()
        claims.object { json in
            json.key("iss")
            json.value(issuerID)
            json.key("iat")
            json.value(Int64(issued))
            json.key("exp")
            json.value(Int64(issued + Self.lifetime))
            json.key("aud")
            json.value("appstoreconnect-v1")
            json.key("bid")
            json.value(bundleID)
        }
        return try key.revealed.compactJWS(claims.bytes, after: CompactHeader(type: "JWT", keyID: keyID))
    }
}
