/// Identifies the keys that all processes of a service must share. The keys themselves aren't in the database.
package struct SharedKeyIDs: Sendable, Hashable {
    /// The ID of the signing key in use.
    package var signingKey: String
    /// The time when the signing key was created, in seconds since 1970.
    package var createdAt: Int64
    /// The ID of the offline root, which signs the signing keys; nil without one.
    package var root: String?
    /// A digest of the secret of access tokens.
    package var secret: String
    /// The machine and the folder of the process that stored these IDs, such as `server-1:/var/lib/tenure/keys`.
    package var place: String

    package init(signingKey: String, createdAt: Int64, root: String?, secret: String, place: String) {
        self.signingKey = signingKey
        self.createdAt = createdAt
        self.root = root
        self.secret = secret
        self.place = place
    }

    /// The key that a transaction locks to read and replace the stored IDs.
    package static let lock = LockKey.progress("keys")
}

extension DatabaseTransaction {
    /// The names of the rows that store `SharedKeyIDs` in `progress`, a table of names and values.
    private enum SharedKeyName: String, CaseIterable {
        case signingKey = "keys signing"
        case createdAt = "keys created"
        case root = "keys root"
        case secret = "keys secret"
        case place = "keys place"

        static let all = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    /// Returns what is stored about the shared keys; nil until a service has stored it.
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

    /// Stores the IDs of the keys and the digest of the secret. Nil removes what is stored, so that the next service
    /// stores its keys.
    package func setSharedKeyIDs(_ keys: SharedKeyIDs?) throws(StoreError) {
        try setStoredValue(named: SharedKeyName.signingKey.rawValue, to: keys?.signingKey)
        try setStoredValue(named: SharedKeyName.createdAt.rawValue, to: keys.map { "\($0.createdAt)" })
        try setStoredValue(named: SharedKeyName.root.rawValue, to: keys?.root)
        try setStoredValue(named: SharedKeyName.secret.rawValue, to: keys?.secret)
        try setStoredValue(named: SharedKeyName.place.rawValue, to: keys?.place)
    }
}
