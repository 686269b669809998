import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenureJSON

/// A checked snapshot of the file of signing keys. The service signs entitlement tokens with the key in use (ES256).
///
/// Apps pin the public half of a key when they are built, or the offline root that vouches for it.
struct SigningKeySet: Sendable {
    let file: SigningKeyFile
    /// The ID of the key in use: its thumbprint (RFC 7638).
    let id: String
    /// The statements that vouch for the key in use, which apps get with a token. Nil if no statement exists; then apps
    /// must have pinned the key itself.
    let vouchers: SigningKeyResponse?
    /// How long the key in use may sign, according to the offline root's statement.
    var period: SigningPeriod

    private let key: P256.Signing.PrivateKey
    private let tokenHeader: CompactHeader
    /// The public keys that aren't revoked, by ID.
    private let verifiers: [String: P256.Signing.PublicKey]

    /// A mistake in the file. Messages show its description after the file's name.
    struct Mistake: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// Checks everything in the file, so that the service never sends a token or a statement that an app would reject.
    init(_ file: SigningKeyFile) throws(Mistake) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: file.privateKey.revealed) else {
            throw Mistake("the private key isn't a P-256 key in PEM")
        }
        self.key = key
        self.file = file
        let newest = JSONWebKey(key.publicKey)
        id = newest.id
        guard let last = file.keys.last, last.key == newest, last.revokedAt == nil else {
            throw Mistake("the private key doesn't match the last public key, or that key is revoked")
        }
        let publicKeys = file.keys.compactMap(\.key.publicKey)
        guard publicKeys.count == file.keys.count else { throw Mistake("one of the public keys isn't a P-256 key") }
        let unrevoked = zip(file.keys, publicKeys).filter { entry, _ in entry.revokedAt == nil }
        verifiers = Dictionary(unrevoked.map { entry, publicKey in (entry.key.id, publicKey) }) { first, _ in first }
        try Self.check(file.chain, of: file.keys, publicKeys, from: file.chainStart)
        period = try Self.period(of: file, newest)
        tokenHeader = CompactHeader(type: SignedType.entitlementToken, keyID: id)
        let vouchers = SigningKeyResponse(
            chain: file.chain.isEmpty ? nil : file.chain, root: file.rootStatement, revocations: file.revocations)
        self.vouchers = vouchers.isEmpty ? nil : vouchers
    }

    /// Checks the chain, which begins at the key with the index `start`: each key must have signed the statement that
    /// vouches for the next key.
    private static func check(
        _ chain: [String], of keys: [SigningKeyFile.Key], _ publicKeys: [P256.Signing.PublicKey], from start: Int
    ) throws(Mistake) {
        guard start >= 0, chain.count < SigningKeyBounds.maximumChainLength else {
            let maximum = min(keys.count, SigningKeyBounds.maximumChainLength) - 1
            throw Mistake("the chain has \(chain.count) statements; these keys allow at most \(maximum)")
        }
        for (place, statement) in chain.enumerated() {
            let signer = start + place
            guard keys[signer].revokedAt == nil,
                let payload = publicKeys[signer].payload(ofStatement: statement, type: SignedType.keyStatement),
                Array(payload) == keys[signer + 1].key.bytes
            else { throw Mistake("statement \(place + 1) of the chain doesn't vouch for the next key") }
        }
    }

    /// Checks the statement and the list of revoked keys that the offline root signed, and returns how long the key in
    /// use may sign.
    private static func period(of file: SigningKeyFile, _ newest: JSONWebKey) throws(Mistake) -> SigningPeriod {
        guard let root = file.root else {
            guard file.rootStatement == nil, file.revocations == nil else {
                throw Mistake("there is a statement of an offline root, but not the root's public key")
            }
            return .unlimited
        }
        guard let key = root.publicKey else { throw Mistake("the offline root's public key isn't a P-256 key") }
        if let revocations = file.revocations, RootRevocations(revocations, signedBy: key) == nil {
            throw Mistake("the list of revoked keys isn't signed by the offline root")
        }
        guard let text = file.rootStatement else { return .notSigned }
        guard let statement = RootStatement(text, signedBy: key), statement.key == newest else {
            throw Mistake("the offline root's statement isn't valid for the key in use")
        }
        return .until(statement.signUntil)
    }

    // MARK: Signing

    /// Throws a problem if another process has a newer key, because this process's key may have been revoked.
    func requireNewestKey() throws(Problem) {
        guard period == .outdated else { return }
        throw Problem(
            .busy, "another process has a newer signing key, and this process has no copy of it yet; try again",
            reason: "outdatedSigningKey", retryAfter: 5)
    }

    /// Signs a JSON payload as a compact JWS with this `typ`.
    func sign(_ payload: [UInt8], type: String) throws -> String {
        try requireNewestKey()
        return try key.compactJWS(
            payload,
            after: type == SignedType.entitlementToken ? tokenHeader : CompactHeader(type: type, keyID: id))
    }

    /// Returns the payload of a compact JWS with this `typ`, if one of these keys signed it and isn't revoked;
    /// otherwise nil.
    func payload(of jws: String, type: String) -> [UInt8]? {
        for (id, key) in verifiers {
            if let payload = key.payload(of: jws, type: type, keyID: id) { return payload }
        }
        return nil
    }

    // MARK: Publishing

    /// The keys that may have signed a token that is valid now, newest first, as a JWK Set (RFC 7517).
    ///
    /// The set is for the developer's servers, which know the service's address. Apps pin a key instead: an app that
    /// fetched its trusted key would trust any server that responds.
    func jsonWebKeySet(at now: Date) -> [UInt8] {
        // The longest lifetime that was ever configured, because older keys may have signed tokens with that lifetime.
        let life = TimeInterval(file.maximumTokenLifetime)
        let keys = file.keys.filter { key in
            key.revokedAt == nil && now.timeIntervalSince1970 < TimeInterval(key.retiredAt ?? .max) + life
        }
        return JSONWriter.object { json in
            json.field("keys", keys.reversed()) { json, key in
                json.object { json in
                    key.key.write(into: &json)
                    json.field("kid", key.key.id)
                    json.field("alg", "ES256")
                    json.field("use", "sig")
                }
            }
        }
    }
}
