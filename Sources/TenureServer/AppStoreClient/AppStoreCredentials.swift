import Crypto
import Foundation
import TenureCore
import TenureJSON

/// The In-App Purchase key with which the service uses the App Store Server API, for one app.
struct AppStoreCredentials: Sendable {
    /// The issuer ID of the developer's team, from App Store Connect.
    let issuerID: String
    /// The ID of the key, from App Store Connect.
    let keyID: String
    /// The bundle ID of the app.
    let bundleID: String
    private let key: Secret<P256.Signing.PrivateKey>

    init(issuerID: String, keyID: String, bundleID: String, key: P256.Signing.PrivateKey) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.bundleID = bundleID
        self.key = Secret(key)
    }

    /// Reads the key in the settings. Throws `appStore` if a setting has a mistake, and `keyFile` if the key can't be
    /// read.
    init(_ settings: AppStoreSettings, bundleID: String) throws(ServiceError) {
        if let mistake = settings.mistake { throw mistake }
        self.init(
            issuerID: settings.issuerID, keyID: settings.keyID, bundleID: bundleID,
            key: try AppStoreKeyFile(path: settings.privateKeyFile).key())
    }

    /// The seconds until a token expires. Apple accepts up to an hour. Apple's own libraries use five minutes.
    static let lifetime: TimeInterval = 5 * 60

    /// Returns a signed JWT for the App Store Server API that is valid for `lifetime`.
    func token(issuedAt now: Date) throws -> String {
        let issued = now.timeIntervalSince1970.rounded(.down)
        let claims = JSONWriter.object { json in
            json.field("iss", issuerID)
            json.field("iat", Int64(issued))
            json.field("exp", Int64(issued + Self.lifetime))
            json.field("aud", "appstoreconnect-v1")
            json.field("bid", bundleID)
        }
        return try key.revealed.compactJWS(claims, after: CompactHeader(type: "JWT", keyID: keyID))
    }
}
