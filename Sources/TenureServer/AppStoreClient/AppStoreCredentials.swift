import Crypto
import Foundation
import TenureAPI
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

/// The token that authorizes requests to the App Store. Many requests have the same token. It is replaced shortly
/// before it expires, or after the App Store rejected it.
actor AppStoreTokens {
    private let credentials: AppStoreCredentials
    /// The latest token; nil before the first request, and after the App Store rejected a token.
    private var current: (text: String, issued: Date)?

    /// How many seconds before it expires a token is replaced: a request takes time, and clocks differ.
    private static let margin: TimeInterval = 60

    init(_ credentials: AppStoreCredentials) { self.credentials = credentials }

    /// Returns the current token, or signs a new one. Throws `cannotSign` if that fails.
    func token(at now: Date) throws(AppStoreFailure) -> String {
        // Reuse the token unless it is about to expire. The clock may have been set back: the App Store rejects tokens
        // that were issued in the future.
        if let current, (0..<AppStoreCredentials.lifetime - Self.margin).contains(now.timeIntervalSince(current.issued))
        {
            return current.text
        }
        guard let text = try? credentials.token(issuedAt: now) else { throw .cannotSign }
        current = (text, now)
        return text
    }

    /// Discards this token, unless another request has replaced it already.
    func discard(_ text: String) {
        if current?.text == text { current = nil }
    }
}

/// The `.p8` file from App Store Connect: a P-256 key in PKCS#8 and PEM.
struct AppStoreKeyFile {
    let path: String

    /// The maximum size of a file, in bytes. Apple's key files have fewer than 300.
    private static let maximumSize = 16 * 1024

    /// Reads the key. Throws `keyFile` if that fails, with a message that contains nothing of the file's contents.
    func key() throws(ServiceError) -> P256.Signing.PrivateKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw mistake("there is no such file; copy the key from App Store Connect to it, or create a new key")
        }
        let contents = try SecretFile(path: path).existingContents(upTo: Self.maximumSize)
        let text = String(decoding: contents, as: UTF8.self)
            .replacingOccurrences(of: "\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        if text.contains("ENCRYPTED") {
            throw mistake("the file is encrypted; decrypt it with `openssl pkcs8 -in \(path) -out decrypted.p8`")
        }
        guard text.contains("PRIVATE KEY-----") else {
            throw mistake("the file has no private key in PEM; set the path of the .p8 file from App Store Connect")
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) { return key }
        throw mistake(
            "the file has \(content(ofPEM: text)); the App Store needs a P-256 key in PKCS#8, so use the .p8 file unchanged"
        )
    }

    /// Describes what a file contains instead of the right key, for the error message.
    private func content(ofPEM text: String) -> String {
        if (try? P384.Signing.PrivateKey(pemRepresentation: text)) != nil { return "a key of the curve P-384" }
        if (try? P521.Signing.PrivateKey(pemRepresentation: text)) != nil { return "a key of the curve P-521" }
        return "a damaged key, or a key of another kind"
    }

    private func mistake(_ detail: String) -> ServiceError { .keyFile(path: path, detail: detail) }
}
