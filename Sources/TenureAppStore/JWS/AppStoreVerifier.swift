import Crypto
public import Foundation
import TenureCore
import TenureJSON

/// Verifies artifacts that the App Store signed (app transactions, transactions, renewal info, notifications and
/// receipts), without the network.
///
/// Tasks can share a verifier: copies use the same cache of certificate chains.
public struct AppStoreVerifier: Sendable {
    /// The app that artifacts must be for.
    public let app: AppIdentity
    /// The certificate chains that were already checked.
    package let cache: ChainCache

    /// How far a signing date may be in the future, in seconds, because the clocks may differ.
    static let clockTolerance: TimeInterval = 5 * 60

    /// Creates a verifier with an empty cache of certificate chains. Copies of the verifier share the cache.
    public init(app: AppIdentity, trust: TrustConfiguration) { self.init(app: app, cache: ChainCache(trust: trust)) }

    package init(app: AppIdentity, cache: ChainCache) {
        self.app = app
        self.cache = cache
    }

    /// The accepted environments, and the trusted certificates of each.
    public var trust: TrustConfiguration { cache.trust }

    /// The source of an app transaction. An app transaction from a client must be bound to a device: it must contain a
    /// hash of the device's ID (`DeviceVerification`).
    public enum AppTransactionSource: Sendable, Hashable {
        /// A client. An app transaction that the App Store signed for a server is rejected, because it isn't bound to a
        /// device.
        case client
        /// The App Store Server API or a notification. App transactions for a device and for a server are accepted.
        case appStoreServer
    }

    /// Verifies a compact JWS of an app transaction.
    ///
    /// An artifact with a signing date more than five minutes after `now` is rejected. If `now` is nil, the date isn't
    /// compared, and an artifact without a signing date is rejected.
    ///
    /// Throws a `Rejection` with the code of the first failed check, in this order: size, format, algorithm,
    /// certificate chain, purpose of the certificates, signature, payload JSON, kind, payload fields, validity, app,
    /// environment. A signer's key that isn't a P-256 key is rejected with `unsupportedAlgorithm` only after the chain
    /// was checked. A client's app transaction that was signed for a server is rejected last, with `wrongKind`.
    public func verifyAppTransaction(
        _ jws: [UInt8], from source: AppTransactionSource = .client, now: Date?
    ) throws(Rejection) -> Verified<AppTransactionPayload> {
        let verified: Verified<AppTransactionPayload> = try verify(jws, now: now)
        if source == .client, verified.payload.isSignedForServer {
            throw Rejection(.wrongKind, "the app transaction was signed for a server, so it isn't bound to a device")
        }
        return verified
    }

    /// Verifies a compact JWS of a transaction. `verifyAppTransaction` describes `now` and the order of the checks.
    public func verifyTransaction(_ jws: [UInt8], now: Date?) throws(Rejection) -> Verified<TransactionPayload> {
        try verify(jws, now: now)
    }

    /// Verifies a compact JWS of renewal info. `verifyAppTransaction` describes `now` and the order of the checks.
    ///
    /// Renewal info doesn't contain the app's bundle ID. So use it only together with a verified transaction with the
    /// same `originalTransactionID`.
    public func verifyRenewalInfo(_ jws: [UInt8], now: Date?) throws(Rejection) -> Verified<RenewalInfoPayload> {
        try verify(jws, now: now)
    }

    /// Verifies a compact JWS of a transaction, of renewal info, or of an app transaction. The app transaction may be
    /// signed for a device or for a server. `verifyAppTransaction` describes `now` and the order of the checks.
    package func verifyEvidence(_ jws: ArraySlice<UInt8>, now: Date?) throws(Rejection) -> VerifiedArtifact {
        let signed = try verifySignature(of: jws)
        switch JWSKind(of: signed.tape) {
        case .appTransaction: return .appTransaction(try verifyContents(of: signed, now: now))
        case .transaction: return .transaction(try verifyContents(of: signed, now: now))
        case .renewalInfo: return .renewalInfo(try verifyContents(of: signed, now: now))
        case .notification, .realtime, nil:
            throw Rejection(
                .wrongKind, "the artifact's fields aren't those of an app transaction, a transaction or renewal info")
        }
    }

    /// Verifies one JWS without its nested artifacts.
    func verify<Payload: AppStorePayload>(_ jws: [UInt8], now: Date?) throws(Rejection) -> Verified<Payload> {
        let signed = try verifySignature(of: jws[...])
        let actualKind = JWSKind(of: signed.tape)
        guard actualKind == Payload.kind else {
            let actual = actualKind.map { "is \($0.phrase)" } ?? "has the fields of no known kind"
            throw Rejection(.wrongKind, "the artifact must be \(Payload.kind.phrase), but \(actual)")
        }
        return try verifyContents(of: signed, now: now)
    }

    /// A JWS with a valid signature: the parsed JSON of its payload, the signer's certificates, and the digest of the
    /// signed bytes. The kind, the app and the environment aren't verified yet.
    private typealias Signed = (tape: JSONTape, chain: TrustedChain, digest: SHA256Digest)

    /// Parses a JWS, and verifies its algorithm, certificates and signature.
    private func verifySignature(of jws: ArraySlice<UInt8>) throws(Rejection) -> Signed {
        let segments = try JWSSegments(jws)
        // A header that was verified before needs neither decoding nor hashing. It has about 4.5 KB, most of a JWS.
        if let knownHeader = segments.bytes[segments.header].withUnsafeBufferPointer({ cache.known(header: $0) }) {
            var hash = knownHeader.hash
            hash.update(data: segments.signedBytes[segments.header.upperBound...])
            let (chain, digest) = (knownHeader.chain, hash.finalize())
            try checkSignature(of: segments, hashedTo: digest, by: chain)
            return (try segments.object(segments.payload, as: "payload"), chain, digest)
        }
        let header = try JWSHeader(segments.object(segments.header, as: "header"))
        try header.checkAlgorithm()
        let chain = try header.chain(in: cache)
        let digest = SHA256.hash(data: segments.signedBytes)
        try checkSignature(of: segments, hashedTo: digest, by: chain)
        // Remember the header only after the signature was verified. Otherwise an attacker could write many headers
        // with a copied genuine chain, and these headers would displace the known headers.
        cache.remember(header: segments.bytes[segments.header], of: chain)
        return (try segments.object(segments.payload, as: "payload"), chain, digest)
    }

    /// Reads the payload, and checks its dates, app and environment.
    private func verifyContents<Payload: AppStorePayload>(
        of signed: Signed, now: Date?
    ) throws(Rejection) -> Verified<Payload> {
        let (tape, chain, digest) = signed
        let payload = try Payload(reading: FieldReader(tape: tape, index: tape.root))
        try checkSigning(at: payload.signedDate, by: chain, now: now)
        try checkRegisteredClaims(of: tape, at: now ?? payload.signedDate)
        try checkApp(of: payload)
        let environment = try trust.environment(named: payload.environmentName, signedBy: chain)
        return Verified(
            payload: payload, environment: environment, signedDate: payload.signedDate, chain: chain, digest: digest)
    }

    /// Checks that the chain's key made the signature of the bytes with this digest.
    private func checkSignature(
        of segments: JWSSegments, hashedTo digest: SHA256Digest, by chain: TrustedChain
    ) throws(Rejection) {
        guard case .p256(let key) = chain.key
        else { throw Rejection(.unsupportedAlgorithm, "a JWS must be signed with a P-256 key") }
        let bytes = try segments.decoded(segments.signature, as: "signature")
        // RFC 7518, section 3.4: the two numbers r and s, 32 bytes each. A signature in DER isn't allowed.
        guard bytes.count == 64, let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes)
        else { throw Rejection(.badSignature, "the signature has \(bytes.count) bytes instead of 64") }
        guard key.isValidSignature(signature, for: digest)
        else { throw Rejection(.badSignature, "the signature doesn't match the header and the payload") }
    }

    /// Checks that the certificates were valid when the artifact was signed, and that the signing date isn't later than
    /// `now` (with a tolerance). If the artifact has no signing date, `now` takes its place. If both are nil, the
    /// artifact is malformed.
    func checkSigning(at signedDate: Date?, by chain: TrustedChain, now: Date?) throws(Rejection) {
        guard let instant = signedDate ?? now else { throw Rejection(.malformed, "the artifact has no signing date") }
        try chain.checkValidity(at: instant)
        if let now, instant.timeIntervalSince(now) > Self.clockTolerance {
            throw Rejection(
                .outsideValidityPeriod,
                "the artifact was signed at \(instant.formatted(.iso8601)), which is in the future; check this machine's clock"
            )
        }
    }

    /// Checks the claims `aud`, `exp`, `iat` and `nbf` of RFC 7519, section 4.1. The App Store doesn't use these
    /// claims, but Apple's libraries check them.
    private func checkRegisteredClaims(of tape: JSONTape, at instant: Date?) throws(Rejection) {
        // All of these claims have names of three letters. No top-level field of the App Store has such a short name.
        guard tape.mayHaveName(ofLength: 3, inObjectAt: tape.root) else { return }
        guard tape.value(named: "aud", inObjectAt: tape.root) == nil
        else { throw Rejection(.malformed, "the artifact names an audience (`aud`), which the App Store never does") }
        let read = FieldReader(tape: tape, index: tape.root)
        let seconds = instant?.timeIntervalSince1970
        if let end: Int64 = try read("exp"), let seconds, Double(end) <= seconds {
            throw Rejection(.outsideValidityPeriod, "the artifact has expired, according to `exp`")
        }
        for claim: StaticString in ["iat", "nbf"] {
            if let beginning: Int64 = try read(claim), let seconds, Double(beginning) > seconds {
                throw Rejection(.outsideValidityPeriod, "the artifact isn't valid yet, according to `\(claim)`")
            }
        }
    }

    /// Checks that the payload belongs to the app. Renewal info contains no app, and Apple IDs are checked only in
    /// Production. The environment name isn't verified yet: like Apple's libraries, the verifier checks it after the
    /// app.
    private func checkApp<Payload: AppStorePayload>(of payload: Payload) throws(Rejection) {
        let (bundleID, appAppleID) = (payload.bundleID, payload.appAppleID)
        // Compare bytes: `String` treats different Unicode encodings of a letter as equal.
        if let wanted = app.bundleID, Payload.kind != .renewalInfo, bundleID?.utf8.elementsEqual(wanted.utf8) != true {
            throw Rejection(
                .wrongApp,
                bundleID.map { "the artifact belongs to the app `\($0)`, not to `\(wanted)`" }
                    ?? "the artifact has no `bundleId`, which must be `\(wanted)`")
        }
        let hasAppAppleID = Payload.kind == .appTransaction || Payload.kind == .notification
        let isOfProduction = payload.environmentName == AppStoreEnvironment.production.rawValue
        if let wanted = app.appAppleID, hasAppAppleID, isOfProduction, appAppleID != wanted {
            let actual = appAppleID.map(String.init) ?? "(none)"
            throw Rejection(.wrongApp, "the artifact belongs to the app with the Apple ID \(actual), not to \(wanted)")
        }
    }
}
