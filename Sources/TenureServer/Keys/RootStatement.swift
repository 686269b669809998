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
        guard
            let bytes = root.payload(
                ofStatement: text, type: SignedType.rootStatement,
                maximumSize: SigningKeyBounds.maximumStatementSize),
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

/// The offline root's list of revoked keys. Only the list with the highest counter is used.
struct RootRevocations: Sendable {
    /// The number of the list, higher in each newer list.
    let counter: Int64
    /// The IDs of the revoked keys.
    let revoked: [String]

    /// The JSON of a list. A separate type, so that only `init(_:signedBy:)` creates a list.
    private struct Payload: Codable {
        let counter: Int64
        /// When the list was signed. Nothing depends on this date.
        let iat: Int64?
        let revoked: [String]
    }

    /// Verifies and reads a list; nil if the root didn't sign it.
    init?(_ text: String, signedBy root: P256.Signing.PublicKey) {
        guard
            let bytes = root.payload(
                ofStatement: text, type: SignedType.revocations,
                maximumSize: SigningKeyBounds.maximumRevocationsSize),
            let payload = try? JSONDecoder().decode(Payload.self, from: bytes), payload.counter > 0,
            payload.revoked.count <= SigningKeyBounds.maximumRevocations
        else { return nil }
        (counter, revoked) = (payload.counter, payload.revoked)
    }

    /// Signs a list.
    static func sign(
        _ revoked: [String], counter: Int64, by root: P256.Signing.PrivateKey, at now: Date
    ) throws -> String {
        let payload = Payload(counter: counter, iat: now.seconds, revoked: revoked)
        return try root.compactJWS([UInt8](try JSONEncoder.sorted.encode(payload)), type: SignedType.revocations)
    }
}
