package import Foundation

/// A key for the admin API, without its secret. The database stores a hash of the secret.
package struct StoredAdminKey: Sendable, Hashable {
    /// What a key may do.
    package enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Everything.
        case admin
        /// Reading, granting, revoking, linking, merging and exporting customers.
        case support
        /// Only linking customers to users of the app, as the app's own server does.
        case link
        /// Only reading.
        case read
        /// Publishing policies and creating personas, such as on a build machine.
        case policy
    }

    /// The name of the key in the audit trail.
    package let name: String
    package let scope: Scope
    package let createdAt: Date
    /// When the key was revoked; nil if it is valid.
    package let revokedAt: Date?

    package init(name: String, scope: Scope, createdAt: Date, revokedAt: Date? = nil) {
        self.name = name
        self.scope = scope
        self.createdAt = createdAt.toMillisecond
        self.revokedAt = revokedAt?.toMillisecond
    }
}

/// Stores, finds and revokes admin keys.
extension DatabaseTransaction {
    /// Stores an admin key with the hash of its secret. Returns false if an admin key has the name already; otherwise
    /// true.
    package func create(_ key: StoredAdminKey, secret hash: [UInt8], actor: String) throws(StoreError) -> Bool {
        let count = try session.execute(
            """
            INSERT INTO admin_keys (name, scope, secret, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
            """, [.text(key.name), .text(key.scope.rawValue), .blob(hash), SQLValue(key.createdAt)])
        guard count > 0 else { return false }
        let detail = ["key": key.name, "scope": key.scope.rawValue]
        try audit(AuditEntry(at: key.createdAt, actor: actor, action: "createKey", detail: detail))
        return true
    }

    /// Revokes an admin key and returns it; nil if no valid key has this name.
    package func revokeKey(named name: String, actor: String) throws(StoreError) -> StoredAdminKey? {
        let count = try session.execute(
            "UPDATE admin_keys SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL", [milliseconds, .text(name)])
        guard count > 0 else { return nil }
        try audit(AuditEntry(at: now, actor: actor, action: "revokeKey", detail: ["key": name]))
        return try keys("WHERE name = $1", [.text(name)]).first
    }

    /// All admin keys, even revoked ones, in the order in which they were created.
    package func keys() throws(StoreError) -> [StoredAdminKey] { try keys("ORDER BY id", []) }

    /// Returns the admin key with the secret that has this hash; nil if there is no such key, or if it was revoked.
    package func key(withSecret hash: [UInt8]) throws(StoreError) -> StoredAdminKey? {
        try keys("WHERE secret = $1 AND revoked_at IS NULL", [.blob(hash)]).first
    }

    private func keys(_ condition: String, _ arguments: [SQLValue]) throws(StoreError) -> [StoredAdminKey] {
        try session.rows("SELECT name, scope, created_at, revoked_at FROM admin_keys \(condition)", arguments).map {
            row throws(StoreError) in
            StoredAdminKey(
                name: try row.text(0), scope: try row.namedValue(1, "an admin key has the unknown scope"),
                createdAt: try row.instant(2), revokedAt: try row.instantIfPresent(3))
        }
    }
}
