import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenureJSON

/// The changes to the file of signing keys: rotations, revocations, and the installation of what the offline root
/// signed.
///
/// In the chain, each key signed a statement that vouches for the next key. An app that pinned a key of the chain
/// trusts the key in use, which is the last one.
extension SigningKeyFile {
    /// Replaces the key in use. The old key signs a statement that vouches for the new key. Then the old private key is
    /// deleted.
    mutating func rotate(
        to new: P256.Signing.PrivateKey = .newSigningKey(), at now: Date, droppingOldest: Bool = false
    ) throws {
        guard let current = try? P256.Signing.PrivateKey(pemRepresentation: privateKey.revealed),
            let last = keys.indices.last
        else { throw SigningKeyError.cannotSign }
        // `chain` has one statement fewer than the chain has keys, so after this rotation, `chain.count + 2` keys are
        // in the chain.
        let excess = chain.count + 2 - SigningKeyBounds.maximumChainLength
        if excess > 0 {
            guard droppingOldest else { throw SigningKeyError.chainTooLong(oldest: keys[chainStart].key.id) }
            chain.removeFirst(excess)
        }
        chain.append(try current.compactJWS(JSONWebKey(new.publicKey).bytes, type: SignedType.keyStatement))
        keys[last].retiredAt = now.seconds
        use(new, at: now)
    }

    /// Adds a key, and puts it in use.
    private mutating func use(_ key: P256.Signing.PrivateKey, at now: Date) {
        keys.append(Key(key: JSONWebKey(key.publicKey), createdAt: now.seconds))
        privateKey = Secret(key.pemRepresentation)
        rootStatement = nil
        next = nil
        prune(at: now)
    }

    /// The lifetime of an entitlement token, unless the configuration sets another lifetime.
    static let defaultTokenLife: TimeInterval = 365 * 86_400

    /// The longest lifetime of tokens that these keys signed, in seconds.
    var maximumTokenLifetime: Int64 { max(tokenLife ?? 0, Int64(Self.defaultTokenLife)) }

    /// Whether the file must store the lifetime of tokens, so that no key is removed while its tokens are valid.
    func mustRemember(tokenLife: TimeInterval) -> Bool { Int64(tokenLife.rounded(.up)) > maximumTokenLifetime }

    /// Removes keys that aren't in the chain, once all tokens that they signed have expired.
    private mutating func prune(at now: Date) {
        let start = chainStart
        let life = maximumTokenLifetime
        keys = keys.enumerated().filter { index, key in
            index >= start || (key.retiredAt ?? key.revokedAt ?? .min) > now.seconds - life
        }.map(\.element)
    }

    /// Revokes a key, so that tokens that it signed are rejected.
    ///
    /// Apps that pinned the revoked key, or an older key of the chain, can't trust the key in use anymore: the chain
    /// leads from their key through the revoked key. So these keys leave the chain. If the revoked key is in use, it is
    /// replaced by the key that waits for the offline root, or by a new key. No key vouches for the replacement.
    ///
    /// - Returns: The IDs of the keys that left the chain. Apps that pinned only these keys need an update.
    @discardableResult
    mutating func revoke(_ id: String, at now: Date) throws -> [String] {
        guard let index = keys.firstIndex(where: { $0.key.id == id }) else { throw SigningKeyError.unknownKey(id) }
        guard keys[index].revokedAt == nil else { throw SigningKeyError.alreadyRevoked(id) }
        keys[index].revokedAt = now.seconds
        let start = chainStart
        guard index >= start else { return [] }
        let stranded = keys[start...index].map(\.key.id)
        // An older key was revoked: the chain now begins with the next key.
        guard index == keys.indices.last else {
            chain.removeFirst(index - start + 1)
            return stranded
        }
        // The key in use was revoked: the waiting key or a new key replaces it.
        keys[index].retiredAt = now.seconds
        chain = []
        use(next?.key ?? .newSigningKey(), at: now)
        return stranded
    }

    /// Returns the public half of the key that waits for the root's signature, and creates the key if it doesn't exist.
    mutating func prepareNextKey(at now: Date) throws -> JSONWebKey {
        let waiting =
            next
            ?? NextKey(
                privateKey: Secret(P256.Signing.PrivateKey.newSigningKey().pemRepresentation), createdAt: now.seconds)
        guard let key = waiting.key else { throw SigningKeyError.cannotSign }
        next = waiting
        return JSONWebKey(key.publicKey)
    }

    /// Installs a statement of the offline root.
    ///
    /// - Parameters:
    ///   - newRoot: The root's public key, for the root's first statement and to change the root; otherwise nil.
    ///   - replacingRoot: Whether `newRoot` may replace another root.
    mutating func install(
        _ text: String, ofRoot newRoot: JSONWebKey? = nil, at now: Date, droppingOldest: Bool = false,
        replacingRoot: Bool = false
    ) throws -> SigningKeyAdministration.Installation {
        guard let root = newRoot ?? root else { throw SigningKeyError.noRoot }
        if let installed = self.root, installed != root, !replacingRoot {
            throw SigningKeyError.anotherRoot(known: installed.id)
        }
        guard let key = root.publicKey else { throw SigningKeyError.notAKey }
        if let list = RootRevocations(text, signedBy: key) {
            // A list of revoked keys can't install a new root: the new root hasn't signed the key in use, so the
            // service would stop issuing tokens.
            guard root == self.root else { throw SigningKeyError.listOfNewRoot }
            return try install(list, text: text, by: key, at: now)
        }
        guard let statement = RootStatement(text, signedBy: key) else { throw SigningKeyError.notOfRoot }
        guard statement.signUntil > now else { throw SigningKeyError.periodOver(statement.signUntil) }
        let id = statement.key.id
        let isRevoked = revocations.flatMap { RootRevocations($0, signedBy: key) }?.revoked.contains(id) ?? false
        guard !isRevoked else { throw SigningKeyError.revokedKey(id) }
        var installation = SigningKeyAdministration.Installation.period(until: statement.signUntil)
        if let waiting = next?.key, JSONWebKey(waiting.publicKey) == statement.key {
            try rotate(to: waiting, at: now, droppingOldest: droppingOldest)
            installation = .rotated(until: statement.signUntil)
        } else if statement.key != keys.last?.key {
            throw SigningKeyError.aboutAnotherKey(id)
        }
        // The previous root's list of revoked keys has no effect under another root.
        if root != self.root {
            self.root = root
            revocations = nil
        }
        rootStatement = text
        return installation
    }

    /// Installs a list of revoked keys, and revokes the keys of the file that are in the list.
    private mutating func install(
        _ list: RootRevocations, text: String, by root: P256.Signing.PublicKey, at now: Date
    ) throws -> SigningKeyAdministration.Installation {
        if let installed = revocations.flatMap({ RootRevocations($0, signedBy: root) }) {
            let missing = installed.revoked.filter { !list.revoked.contains($0) }
            guard missing.isEmpty else {
                throw SigningKeyError.missingRevocations(missing, known: installed.counter)
            }
            guard list.counter > installed.counter else {
                throw SigningKeyError.olderRevocations(counter: list.counter, known: installed.counter)
            }
        }
        if let waiting = next?.key, list.revoked.contains(waiting.publicKey.id) { next = nil }
        let ids = keys.filter { $0.revokedAt == nil && list.revoked.contains($0.key.id) }.map(\.key.id)
        var stranded: [String] = []
        for id in ids { stranded += try revoke(id, at: now) }
        revocations = text
        return .revoked(ids, stranded: stranded)
    }
}
