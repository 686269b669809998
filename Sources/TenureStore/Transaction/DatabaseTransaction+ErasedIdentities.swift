import Crypto
import TenureJSON

/// Recognizes erased customers by hashes of their identities, so that notifications don't create these customers again.
extension DatabaseTransaction {
    /// Removes at most `limit` identities of a hidden customer (one who is being erased). If notifications can contain
    /// an identity, stores a salted hash of it, so that notifications don't create the customer again. Returns how many
    /// identities were removed.
    func replaceIdentitiesWithHashes(of id: Int64, limit: Int) throws(StoreError) -> Int {
        // The identities aren't sorted: sorting all of them at each call would take quadratic time.
        let rows = try session.rows(
            """
            DELETE FROM identities WHERE (realm, kind, value) IN (
                SELECT realm, kind, value FROM identities WHERE customer = $1 LIMIT $2
            ) RETURNING realm, kind, value
            """, [.integer(id), SQLValue(limit)])
        guard !rows.isEmpty else { return 0 }
        let salt = try existingOrNewSalt()
        for row in rows {
            let identity = try Identity(row, kindAt: 1)
            // Notifications find customers only by the app transaction ID or an original transaction ID.
            guard identity.kind.isAcceptedByAppStore else { continue }
            let realm = try row.codedValue(0, "realm", Realm.init(code:))
            try session.execute(
                """
                INSERT INTO erasures (digest, erased_at) VALUES ($1, $2)
                ON CONFLICT (digest) DO UPDATE SET erased_at = excluded.erased_at
                """, [.text(digest(of: identity, in: realm, salt: salt)), milliseconds])
        }
        return rows.count
    }

    /// Whether these identities name an erased customer and no existing customer. A person who uses the app again after
    /// the erasure exists as a new customer.
    ///
    /// - Parameter forUpdate: whether to lock the named customers, so that they aren't erased before the transaction
    ///   ends. A transaction that only reads can't lock them.
    func areErased(_ identities: [Identity], in realm: Realm, forUpdate: Bool = true) throws(StoreError) -> Bool {
        var isBeingErased = false
        // Doesn't read the customers' facts, which may be large.
        for identity in identities {
            guard let rowID = try member(by: identity, in: realm) else { continue }
            if try member(.rowID(rowID), forUpdate: forUpdate) != nil { return false }
            isBeingErased = true
        }
        if isBeingErased { return true }
        guard let salt = try storedValue(named: Self.salt) else { return false }
        for identity in identities where identity.kind.isAcceptedByAppStore {
            let row = try session.row(
                "SELECT 1 FROM erasures WHERE digest = $1", [.text(digest(of: identity, in: realm, salt: salt))])
            if row != nil { return true }
        }
        return false
    }

    /// The name of the row in the table `progress` with the salt.
    private static let salt = "salt of erasures"

    /// Returns the salt of the hashes. The first erasure creates the salt, which never changes afterward.
    func existingOrNewSalt() throws(StoreError) -> String {
        if let salt = try storedValue(named: Self.salt) { return salt }
        let salt = (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
        try setStoredValue(named: Self.salt, to: salt)
        return salt
    }

    /// The salted hash of an erased customer's public ID; nil if no customer was erased yet.
    func digest(ofErased publicID: String) throws(StoreError) -> String? {
        guard let salt = try storedValue(named: Self.salt) else { return nil }
        return SHA256.hash(data: Array("\(salt) customer \(publicID)".utf8)).hexadecimal
    }

    private func digest(of identity: Identity, in realm: Realm, salt: String) -> String {
        SHA256.hash(data: Array("\(salt) \(LockKey.identity(identity, realm).text)".utf8)).hexadecimal
    }
}
