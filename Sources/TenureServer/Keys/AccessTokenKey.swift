import Crypto
import Foundation
import TenureAppStore

/// Makes and checks access tokens: HMAC-SHA256 under a secret of this service and this record.
struct AccessTokenKey: Sendable {
    private let key: SymmetricKey

    static let fileName = "access-token.secret"

    /// Reads the secret, or makes it on first start. A token names a customer by the record's own number, so that the
    /// key depends on the record too: beside another database the same secret makes other tokens.
    init(folder: String, recordID: [UInt8]) throws(ServiceError) {
        let file = SecretFile(path: "\(folder)/\(Self.fileName)")
        let secret = try file.contents { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }
        guard secret.count == 32 else {
            throw .keyFile(path: file.path, detail: "it does not hold 32 bytes; remove it, and devices sync again")
        }
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), salt: recordID, info: Array("tenure access token".utf8),
            outputByteCount: 32)
    }

    func text(of token: AccessToken) -> String {
        let body = token.body
        return Base64URL.encode(body + HMAC<SHA256>.authenticationCode(for: body, using: key))
    }

    /// The token in a text that this service made; nil for any other. Says nothing of time.
    func token(in text: some Collection<UInt8>) -> AccessToken? {
        // Looked at before it is decoded, so that a long one costs nothing.
        guard text.count == Self.textSize, let bytes = Base64.urlSafe.decode(Array(text)[...]),
            bytes.count == AccessToken.size
        else { return nil }
        let body = bytes[..<AccessToken.bodySize]
        // Compares in constant time.
        guard HMAC<SHA256>.isValidAuthenticationCode(bytes[AccessToken.bodySize...], authenticating: body, using: key)
        else { return nil }
        return AccessToken(body: body)
    }

    private static let textSize = (AccessToken.size * 4 + 2) / 3
}
