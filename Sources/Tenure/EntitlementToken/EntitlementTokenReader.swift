package import Foundation
import TenureCore
import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Reads entitlement tokens of the service on the device that holds them, without any network.
struct EntitlementTokenReader: Sendable {
    let keys: KeyRing
    /// Whether entitlement tokens about artifacts of a test authority count.
    let isRehearsal: Bool

    /// The device and customer that a token must be for, as far as they are known.
    struct Holder {
        /// The hash of the device ID; nil if StoreKit doesn't provide it.
        var device: String?
        var bundleID: String?
        var host = HostProcess(.app, bundleID: nil)
        var appTransactionID: String?
        /// The environment of the device's own artifacts; nil before the first one.
        var environment: AppStoreEnvironment?
    }

    /// Why an entitlement token proves nothing here.
    enum Refusal: String, Error {
        case notSigned = "is not signed with a pinned key"
        case revoked = "is signed with a revoked key"
        case periodOver = "is signed with a key after the end of its signing period"
        case malformed = "cannot be read"
        case anotherApp = "was issued for another app"
        case anotherDevice = "was issued for another device"
        case anotherCustomer = "was issued for another account"
        case anotherEnvironment = "was issued for another App Store environment"
        case test = "is based on artifacts of a test authority"
        case missing = "is missing"
        case replayed = "does not answer this request"
        case fromTheFuture = "has an issue date in the future"
        case over = "is for a persona that has expired"
    }

    /// An entitlement token, and the statements that vouch for the key that signed it.
    struct Token {
        let text: String
        /// Statements about keys, oldest first.
        var statements: [String] = []
        /// The keys that the offline root has revoked.
        var revocations: KeyRevocations?
    }

    /// Reads an entitlement token from the local state, which was accepted when it was new. It outlives the signing
    /// period of its key, but not a revocation.
    func read(stored token: Token, for holder: Holder, at now: Date) throws(Refusal) -> EntitlementTokenClaims {
        let (claims, _) = try read(token, for: holder)
        guard claims.issuedAt <= now.addingTimeInterval(86_400) else { throw .fromTheFuture }
        if claims.persona != nil, claims.expiresAt <= now { throw .over }
        return claims
    }

    /// Reads an entitlement token that the service just sent. Its date is the service's, and this device's clock may be
    /// the wrong one.
    ///
    /// - Parameters:
    ///   - nonce: of the request that it must answer.
    ///   - latest: the latest instant that the device knows. With a stolen key, a thief can issue tokens with an
    ///     earlier date than now, but not before the key's signing period was over.
    func read(
        new token: Token, for holder: Holder, answering nonce: String, latest: Date
    ) throws(Refusal) -> EntitlementTokenClaims {
        let (claims, trust) = try read(token, for: holder)
        guard claims.nonce == nonce else { throw .replayed }
        if let end = trust.signUntil, max(latest, claims.issuedAt) > end { throw .periodOver }
        return claims
    }

    private func read(
        _ token: Token, for holder: Holder
    ) throws(Refusal) -> (claims: EntitlementTokenClaims, trust: KeyRing.Trust) {
        guard let text = SignedText(token.text), let trust = keys.trust(in: text, with: token.statements) else {
            throw .notSigned
        }
        guard !keys.revoked(trust.keyID, by: token.revocations) else { throw .revoked }
        guard let claims = try? JSONDecoder().decode(EntitlementTokenClaims.self, from: Data(text.payload)) else {
            throw .malformed
        }
        guard holder.host.identified(as: holder.bundleID).accepts(bundleID: claims.bundleID) else {
            throw .anotherApp
        }
        if let device = holder.device, claims.device != device { throw .anotherDevice }
        if let id = holder.appTransactionID, let theirs = claims.appTransactionID, id != theirs {
            throw .anotherCustomer
        }
        // Without a sign of a test environment, it is production.
        guard claims.environment == holder.environment ?? .production else { throw .anotherEnvironment }
        guard isRehearsal || (!claims.isTest && (claims.persona == nil || !claims.environment.isProduction)) else {
            throw .test
        }
        return (claims, trust)
    }
}

extension UUID {
    /// The device ID in entitlement tokens: SHA-256 of the lowercase UUID, in Base64.
    package var hashed: String { uuidString.lowercased().hashed }
}

extension String {
    /// SHA-256 in Base64.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: Data(utf8))) }
}
