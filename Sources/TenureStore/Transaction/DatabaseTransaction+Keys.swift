import Foundation
import TenureCore

/// Stores, finds and revokes admin keys.
extension DatabaseTransaction {
    /// Stores an admin key with the hash of its secret. Returns false if an admin key has the name already; otherwise
    /// true.
    package func create(_ key: StoredAdminKey, secret hash: [UInt8], actor: String) throws(StoreError) -> Bool {
        let count = try session.execute(
            """
            INSERT INTO admin_keys (name, scope, secret, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
            """,
            [
                .text(key.name), .text(key.scope.rawValue), .blob(hash),
                .integer(key.createdAt.millisecondsSince1970),
            ])
        guard count > 0 else { return false }
        try audit(
            AuditEntry(
                at: key.createdAt, actor: actor, action: "createKey",
                detail: ["key": key.name, "scope": key.scope.rawValue]))
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
