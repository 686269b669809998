/// Identifies the keys that all processes of a service must share. The keys themselves aren't in the database.
package struct SharedKeyIDs: Sendable, Hashable {
    /// The ID of the signing key in use.
    package var signingKey: String
    /// The time when the signing key was created, in seconds since 1970.
    package var createdAt: Int64
    /// The ID of the offline root, if there is one.
    package var root: String?
    /// A digest of the secret of access tokens.
    package var secret: String
    /// Where the keys are: a machine and a folder.
    package var place: String

    package init(signingKey: String, createdAt: Int64, root: String?, secret: String, place: String) {
        self.signingKey = signingKey
        self.createdAt = createdAt
        self.root = root
        self.secret = secret
        self.place = place
    }

    /// The key that transactions lock to store them.
    package static let lock = LockKey.progress("keys")
}

extension DatabaseTransaction {
    /// The names of the rows in `progress` that store `SharedKeyIDs`.
    private enum SharedKeyName: String, CaseIterable {
        case signingKey = "keys signing"
        case createdAt = "keys created"
        case root = "keys root"
        case secret = "keys secret"
        case place = "keys place"

        static let all = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Returns what is stored about the shared keys; nil until a service has stored it.
    ///
    /// `progress` is a table of names and values.
    package func sharedKeyIDs() throws(StoreError) -> SharedKeyIDs? {
        var values: [SharedKeyName: String] = [:]
        for row in try session.rows("SELECT name, value FROM progress WHERE name IN (\(SharedKeyName.all))") {
            if let name = SharedKeyName(rawValue: try row.text(0)) { values[name] = try row.text(1) }
        }
        guard let signingKey = values[.signingKey], let secret = values[.secret] else { return nil }
        return SharedKeyIDs(
            signingKey: signingKey, createdAt: values[.createdAt].flatMap { Int64($0) } ?? 0, root: values[.root],
            secret: secret, place: values[.place] ?? "")
    }

    /// Stores the IDs of the keys and the digest of the secret; nil removes all rows.
    package func setSharedKeyIDs(_ keys: SharedKeyIDs?) throws(StoreError) {
        try setStoredValue(named: SharedKeyName.signingKey.rawValue, to: keys?.signingKey)
        try setStoredValue(named: SharedKeyName.createdAt.rawValue, to: keys.map { "\($0.createdAt)" })
        try setStoredValue(named: SharedKeyName.root.rawValue, to: keys?.root)
        try setStoredValue(named: SharedKeyName.secret.rawValue, to: keys?.secret)
        try setStoredValue(named: SharedKeyName.place.rawValue, to: keys?.place)
    }
}
