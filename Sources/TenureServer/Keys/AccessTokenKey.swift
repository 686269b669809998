import Crypto
import TenureJSON

/// Makes and checks access tokens. Their MAC is HMAC-SHA256, with a key that is derived from the service's secret and
/// the database's ID.
struct AccessTokenKey: Sendable {
    private let code: MessageCode
    /// A digest that identifies the secret without revealing it. All processes that use a database compare it, because
    /// they must have the same secret.
    let fingerprint: String

    static let fileName = "access-token.secret"

    /// Reads the secret from `folder`, or creates it at the first start.
    ///
    /// A token contains a customer's row ID, and the same row ID is another customer in another database. So the key
    /// also depends on the database: each token is valid only for the database for which it was made.
    init(folder: String, databaseID: [UInt8]) throws(ServiceError) {
        let secret = try Self.secret(in: folder)
        code = Self.messageCode(for: "tenure access token", secret, databaseID: databaseID)
        fingerprint = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array("tenure fingerprint".utf8),
            outputByteCount: 16
        ).withUnsafeBytes { Base64.urlSafe.text($0) }
    }

    /// Returns what makes and checks MACs for one purpose, such as download links. The key for each purpose is derived
    /// from the same secret, but a text with the MAC for one purpose is invalid for all other purposes.
    static func messageCode(
        for purpose: String, folder: String, databaseID: [UInt8]
    ) throws(ServiceError) -> MessageCode {
        messageCode(for: purpose, try secret(in: folder), databaseID: databaseID)
    }

    private static func secret(in folder: String) throws(ServiceError) -> [UInt8] {
        let file = Self.file(in: folder)
        let secret = try file.contents { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }
        guard secret.count == 32 else {
            throw .keyFile(
                path: file.path,
                detail: """
                    the file doesn't have 32 bytes; restore it from your backup, or remove it, and run `tenure database \
                    accept-keys` (devices sync again)
                    """)
        }
        return secret
    }

    private static func messageCode(for purpose: String, _ secret: [UInt8], databaseID: [UInt8]) -> MessageCode {
        MessageCode(
            key: HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: secret), salt: databaseID, info: Array(purpose.utf8),
                outputByteCount: 32))
    }

    /// The file with the secret in the service's folder of keys.
    static func file(in folder: String) -> SecretFile { SecretFile(path: "\(folder)/\(fileName)") }

    /// Returns the text of a token, as clients send it.
    func text(of token: AccessToken) -> String { code.text(of: token.body) }

    /// Returns the token in a string that this service made, even after it expired; nil for any other string.
    func token(in text: some Collection<UInt8>) -> AccessToken? {
        // The length is checked before the text is decoded, so that a long text takes no time.
        guard Self.textSizes.contains(text.count), let bytes = code.bytes(in: Array(text)) else { return nil }
        return AccessToken(bytes)
    }

    /// The lengths of tokens in Base64 without padding.
    private static let textSizes = AccessToken.sizes.map { ($0 * 4 + 2) / 3 }
}
