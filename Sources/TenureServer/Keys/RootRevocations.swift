import Crypto
import Foundation
import TenureAPI

/// The offline root's signed list of all keys that it has revoked. A service uses the list with the highest counter.
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
        guard let bytes = root.payload(ofStatement: text, type: SignedType.revocations),
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
