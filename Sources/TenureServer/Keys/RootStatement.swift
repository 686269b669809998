import Crypto
import Foundation
import TenureAPI
import TenureJSON

/// The offline root's signed statement that a signing key may sign until a date.
struct RootStatement: Sendable {
    /// The signing key that the statement is about.
    let key: JSONWebKey
    /// The date until which the key may sign.
    let signUntil: Date

    private struct Payload: Codable {
        /// When the statement was signed. Nothing depends on this date.
        let iat: Int64?
        let key: JSONWebKey
        let signUntil: Int64
    }

    /// Verifies and reads a statement; nil if the root didn't sign it.
    init?(_ text: String, signedBy root: P256.Signing.PublicKey) {
        guard let bytes = root.payload(ofStatement: text, type: SignedType.rootStatement),
            let payload = try? JSONDecoder().decode(Payload.self, from: bytes), payload.key.publicKey != nil
        else { return nil }
        key = payload.key
        signUntil = Date(timeIntervalSince1970: TimeInterval(payload.signUntil))
    }

    /// Signs a statement about a key.
    static func sign(
        _ key: P256.Signing.PublicKey, until end: Date, by root: P256.Signing.PrivateKey, at now: Date
    ) throws -> String {
        let payload = Payload(iat: now.seconds, key: JSONWebKey(key), signUntil: end.seconds)
        return try root.compactJWS([UInt8](try JSONEncoder.sorted.encode(payload)), type: SignedType.rootStatement)
    }
}
