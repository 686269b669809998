package import Foundation
import TenureCore
import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Verifies and reads entitlement tokens, offline. In such a token, the service signs the customer's rights.
struct EntitlementTokenReader: Sendable {
    let keys: KeyRing
    /// Whether to accept tokens based on artifacts of a test authority, such as that of a local App Store.
    let trustsTestAuthorities: Bool

    /// The device, app and customer for which a token must have been issued. A value that isn't known yet is nil, and
    /// isn't checked.
    struct Holder {
        /// The hash of the device ID; nil if StoreKit doesn't provide it.
        var device: String?
        var bundleID: String?
        /// The kind of process that uses the token, such as the app or an extension of it.
        var host = HostProcess(.app, bundleID: nil)
        var appTransactionID: String?
        /// The environment of the device's own artifacts. Nil until the device has an artifact.
        var environment: AppStoreEnvironment?
    }

    /// Why an entitlement token is rejected. The raw value completes a sentence that begins with “the entitlement
    /// token”.
    enum Refusal: String, Error {
        case notSigned = "isn't signed with a pinned key"
        case revoked = "is signed with a revoked key"
        case afterSigningPeriod = "is signed with a key after the end of its signing period"
        case malformed = "can't be read"
        case anotherApp = "was issued for another app"
        case anotherDevice = "was issued for another device"
        case anotherCustomer = "was issued for another account"
        case anotherEnvironment = "was issued for another App Store environment"
        case test = "is based on artifacts of a test authority"
        case missing = "is missing"
        case replayed = "doesn't answer this request"
        case fromTheFuture = "has an issue date in the future"
        case expiredPersona = "is for a persona that has expired"
    }

    /// An entitlement token, and the proof that its signing key is trusted or revoked.
    struct Token {
        let text: String
        /// The signed statements, oldest first, in which a trusted key vouches for the token's signing key: see
        /// `KeyRing`.
        var statements: [String] = []
        /// The keys that the offline root has revoked. Nil if no list of them is known.
        var revocations: KeyRevocations?
    }

    /// Reads a stored entitlement token, which was accepted when it was new. It stays valid after the signing period of
    /// its key, but not after the key was revoked. A persona's token is also rejected once it has expired. The issue
    /// date may be at most a day in the future, because clocks differ.
    func read(stored token: Token, for holder: Holder, at now: Date) throws(Refusal) -> EntitlementTokenClaims {
        let (claims, _) = try read(token, for: holder)
        guard claims.issuedAt <= now.addingTimeInterval(86_400) else { throw .fromTheFuture }
        if claims.persona != nil, claims.expiresAt <= now { throw .expiredPersona }
        return claims
    }

    /// Reads an entitlement token that the service just sent. Its date isn't compared with this device's clock, which
    /// may be wrong.
    ///
    /// - Parameters:
    ///   - nonce: the nonce of the request that the token must answer.
    ///   - latest: the latest time that the device knows. The key may sign only for a limited period, and a thief of an
    ///     old key could backdate a token into it. If the device knows that the period is over, the token is rejected.
    func read(
        new token: Token, for holder: Holder, answering nonce: String, latest: Date
    ) throws(Refusal) -> EntitlementTokenClaims {
        let (claims, trust) = try read(token, for: holder)
        guard claims.nonce == nonce else { throw .replayed }
        if let end = trust.signUntil, max(latest, claims.issuedAt) > end { throw .afterSigningPeriod }
        return claims
    }

    /// Verifies the signature, and checks that its key isn't revoked and that the token is for this app, device,
    /// account and environment. Rejects the token of a test authority unless `trustsTestAuthorities` is true.
    private func read(
        _ token: Token, for holder: Holder
    ) throws(Refusal) -> (claims: EntitlementTokenClaims, trust: KeyRing.Trust) {
        guard let text = SignedText(token.text), let trust = keys.trust(in: text, with: token.statements) else {
            throw .notSigned
        }
        guard !keys.isRevoked(trust.keyID, by: token.revocations) else { throw .revoked }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        guard let claims = try? decoder.decode(EntitlementTokenClaims.self, from: Data(text.payload)),
            claims.issuer == "tenure"
        else { throw .malformed }
        guard holder.host.withBundleID(holder.bundleID).accepts(bundleID: claims.bundleID) else { throw .anotherApp }
        if let device = holder.device, claims.device != device { throw .anotherDevice }
        if let id = holder.appTransactionID, let theirs = claims.appTransactionID, id != theirs {
            throw .anotherCustomer
        }
        // If the device has no artifact yet, accept only a token for Production.
        guard claims.environment == holder.environment ?? .production else { throw .anotherEnvironment }
        // The service accepts no persona with artifacts from Production (rule I4 in Docs/decision-rules.md). So treat
        // such a token like one that is based on artifacts of a test authority.
        let isTest = claims.isTest || (claims.persona != nil && claims.environment.isProduction)
        guard trustsTestAuthorities || !isTest else { throw .test }
        return (claims, trust)
    }
}

/// The contents (claims) of an entitlement token: what the service signed for this device, so that the device also
/// knows the rights offline. Use them only after the signature was verified. The decoder must read dates as seconds
/// since 1970.
struct EntitlementTokenClaims: Sendable, Hashable, Decodable {
    /// `tenure` in all tokens that a service signs.
    let issuer: String
    let bundleID: String
    let environment: AppStoreEnvironment
    private let test: Bool?
    /// The name of the persona, a test customer; nil for a real customer.
    let persona: String?
    /// The `appTransactionID` of the account. Nil if the service doesn't know it.
    let appTransactionID: String?
    /// The hash of the ID of the device: see `UUID.hashed`.
    let device: String
    let issuedAt: Date
    /// When the token expires, if it has no nonce or is for a persona. Otherwise each right has its own end.
    let expiresAt: Date
    /// The random text in the request that the token answers. If there is no nonce, every right ends at the latest when
    /// the token expires.
    let nonce: String?
    private let entitlements: [String: Right]

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case issuedAt = "iat"
        case expiresAt = "exp"
        case bundleID, environment, test, persona, appTransactionID, device, nonce, entitlements
    }

    /// Whether a test authority, such as that of a local App Store, signed the artifacts behind the token.
    var isTest: Bool { test ?? false }

    /// The granted entitlements, by name.
    var rights: [String: Right] {
        guard nonce == nil else { return entitlements }
        return entitlements.mapValues { right in Right(until: right.until.map { min($0, expiresAt) } ?? expiresAt) }
    }

    /// One granted entitlement.
    struct Right: Sendable, Hashable, Decodable {
        /// The time when the right ends. Nil if it is permanent.
        let until: Date?
    }
}

extension UUID {
    /// The device ID in entitlement tokens: SHA-256 of the lowercase UUID, in base64url without padding.
    package var hashed: String { uuidString.lowercased().hashed }
}

extension String {
    /// SHA-256 of the UTF-8 bytes, in base64url without padding.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: Data(utf8))) }
}
