import Foundation
import TenureStore

/// Makes sure that all processes that use a database have the same keys: the signing key, and the secret of access
/// tokens. The keys are in files. The database has only their fingerprints (`SharedKeyIDs`), with which each process
/// compares its own keys.
///
/// For example, a second machine is added:
///
/// - If the key folder of the second machine is empty, the service doesn't start there. The error says from which
///   machine to copy the keys.
/// - If the keys were copied, the second machine starts, because the keys have the fingerprints in the database.
/// - When the first machine rotates its signing key, it stores the new fingerprint. The second machine notices the new
///   fingerprint within a second, and issues no entitlement tokens until its file has the new key.
struct KeyAgreement: Sendable {
    let store: Store
    /// The folder of this process's keys.
    let folder: String
    /// The fingerprint of the secret of access tokens, from `AccessTokenKey`.
    let fingerprint: String
    /// The ID of the signing key with which the process started.
    let initialKeyID: String

    /// Reads this process's keys, and creates them at the first start. If the database has the fingerprints of other
    /// keys, removes the keys that were just created, and throws `otherKeys`.
    ///
    /// - Parameters:
    ///   - tokenLife: The lifetime of entitlement tokens, in seconds.
    ///   - staleness: How long a change of the file of signing keys may go unnoticed.
    static func keys(
        in folder: String, _ store: Store, tokenLife: TimeInterval, staleness: Swift.Duration, at now: Date
    ) async throws(ServiceError) -> (signing: SigningKeys, accessToken: AccessTokenKey, agreement: KeyAgreement) {
        // The fingerprints that this process or another process stored in the database earlier.
        let (storedKeys, hasCustomers) = try await reading(store) {
            (try $0.sharedKeyIDs(), try $0.highestCustomerRowID() > 0)
        }
        // The key files that don't exist yet.
        let signingKey = SigningKeyStore(folder: folder)
        let secretFile = AccessTokenKey.file(in: folder)
        var missing = signingKey.exists ? [] : [SigningKeyStore.fileName]
        if !secretFile.exists { missing.append(AccessTokenKey.fileName) }
        // New keys would differ from the stored fingerprints. If customers' apps trust a signing key that is missing,
        // `SigningKeys` below throws a better error, which says where the key was used last.
        let isTrustedKeyMissing = hasCustomers && !signingKey.exists
        if let storedKeys, !missing.isEmpty, !isTrustedKeyMissing {
            throw .otherKeys(
                "there is no `\(missing.joined(separator: "` and `"))` in `\(folder)`, and another process has created the "
                    + "service's keys; " + Self.remedy(storedKeys, folder))
        }
        // Reads the files, or creates them.
        let signing = try SigningKeys(
            folder: folder, creating: !hasCustomers, tokenLife: tokenLife, staleness: staleness,
            lastUsed: storedKeys?.place, at: now)
        let accessToken = try AccessTokenKey(folder: folder, databaseID: store.databaseID)
        let current = signing.current
        let agreement = KeyAgreement(
            store: store, folder: folder, fingerprint: accessToken.fingerprint, initialKeyID: current.id)
        if let other = try await agreement.conflict(storing: current) {
            // The keys that were created just now can be removed, because no app trusts them. After any other error
            // they stay in the folder, because the database may already have their fingerprints.
            for name in missing { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
            throw .otherKeys(
                "the keys in `\(folder)` aren't those of the database's other processes; " + Self.remedy(other, folder))
        }
        return (signing, accessToken, agreement)
    }

    /// The last part of an error message: how to fix that this process has other keys than the database.
    private static func remedy(_ storedKeys: SharedKeyIDs, _ folder: String) -> String {
        """
        copy `\(SigningKeyStore.fileName)` and `\(AccessTokenKey.fileName)` from `\(storedKeys.place)` to `\(folder)`. \
        If they are lost, stop all processes, and run `tenure database accept-keys`
        """
    }

    /// Stores the fingerprints of these keys, and returns nil. If the database has the fingerprint of another secret,
    /// or of a signing key that these keys may not replace (`mayReplace`), changes nothing, and returns the stored
    /// fingerprints.
    private func conflict(storing keys: SigningKeySet) async throws(ServiceError) -> SharedKeyIDs? {
        do {
            return try await store.write(locking: [SharedKeyIDs.lock]) { transaction -> SharedKeyIDs? in
                let path = URL(fileURLWithPath: folder).standardized.path
                var ownKeys = SharedKeyIDs(
                    signingKey: keys.id, createdAt: keys.file.keys.last?.createdAt ?? 0, root: keys.file.root?.id,
                    secret: fingerprint, place: "\(Self.machine):\(path)")
                if let storedKeys = try transaction.sharedKeyIDs() {
                    guard keys.mayReplace(storedKeys), storedKeys.secret == fingerprint else { return storedKeys }
                    ownKeys.root = ownKeys.root ?? storedKeys.root
                    // The same keys may be in several places. The database keeps the place that was stored first.
                    if storedKeys.signingKey == ownKeys.signingKey, ownKeys.root == storedKeys.root { return nil }
                }
                try transaction.setSharedKeyIDs(ownKeys)
                return nil
            }
        } catch {
            throw ServiceError(error)
        }
    }

    /// Compares this process's signing key with the fingerprint in the database. `SigningKeyWatch` calls this method
    /// every second.
    ///
    /// If this process's key file was rotated, stores the new fingerprint. If another process stored the fingerprint of
    /// a newer key, reads the key file again. Until the file has that key, this process issues no entitlement tokens.
    ///
    /// - Parameter agreed: The ID of this process's signing key when that key was last the same as the key in the
    ///   database.
    func reconcile(_ keys: SigningKeys, agreed: inout String) async throws(ServiceError) {
        let storedKeys = try await Self.reading(store) { try $0.sharedKeyIDs() }
        // The database has another key, so some process rotated, perhaps more than once: read the newest key.
        if let storedKeys, storedKeys.signingKey != keys.current.id { keys.reread() }
        let current = keys.current
        let hasSameKey = storedKeys?.signingKey == current.id
        let root = current.file.root?.id
        // A key file without an offline root agrees with any root in the database.
        var isSame = hasSameKey && (root == nil || root == storedKeys?.root)
        // If the database has another key, only a rotation by this process may replace it. Otherwise this process's key
        // is the older one.
        let mayStore = storedKeys == nil || hasSameKey || current.id != agreed
        if !isSame, mayStore { isSame = try await conflict(storing: current) == nil }
        keys.isOutdated = !isSame
        if isSame { agreed = current.id }
    }

    /// Reads from the database, and throws its errors as `ServiceError`.
    private static func reading<Value: Sendable>(
        _ store: Store, _ body: @escaping @Sendable (DatabaseTransaction) throws -> Value
    ) async throws(ServiceError) -> Value {
        do {
            return try await store.read(body)
        } catch {
            throw ServiceError(error)
        }
    }

    /// The name of this machine, without asking a name server.
    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SigningKeySet {
    /// Whether the database's fingerprint is that of the key in use, or of a key that the key in use may replace.
    ///
    /// The key in use may replace the key with the database's fingerprint, called the database's key, in two cases:
    /// - This process's key file lists the database's key, so this process rotated or revoked that key later. (An older
    ///   copy of the file doesn't list the database's key.)
    /// - The same offline root signed both keys, and the key in use isn't older.
    fileprivate func mayReplace(_ storedKeys: SharedKeyIDs) -> Bool {
        if file.keys.contains(where: { $0.key.id == storedKeys.signingKey }) { return true }
        guard let root = file.root, file.rootStatement != nil, let last = file.keys.last else { return false }
        return root.id == storedKeys.root && last.createdAt >= storedKeys.createdAt
    }
}
