import Foundation
import TenureCore

extension Ledger {
    func create(_ key: RecordedKey, secret hash: [UInt8], actor: String) throws(StoreError) -> Bool {
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
                at: key.createdAt, actor: actor, act: "createKey",
                detail: ["key": key.name, "scope": key.scope.rawValue]))
        return true
    }

    func revokeKey(named name: String, actor: String) throws(StoreError) -> RecordedKey? {
        let count = try session.execute(
            "UPDATE admin_keys SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL", [milliseconds, .text(name)])
        guard count > 0 else { return nil }
        try audit(AuditEntry(at: now, actor: actor, act: "revokeKey", detail: ["key": name]))
        return try keys("WHERE name = $1", [.text(name)]).first
    }

    func keys() throws(StoreError) -> [RecordedKey] { try keys("ORDER BY id", []) }

    func key(withSecret hash: [UInt8]) throws(StoreError) -> RecordedKey? {
        try keys("WHERE secret = $1 AND revoked_at IS NULL", [.blob(hash)]).first
    }

    private func keys(_ condition: String, _ arguments: [SQLValue]) throws(StoreError) -> [RecordedKey] {
        try session.rows("SELECT name, scope, created_at, revoked_at FROM admin_keys \(condition)", arguments).map {
            row throws(StoreError) in
            let name = try row.text(1)
            guard let scope = RecordedKey.Scope(rawValue: name) else { throw .damaged("no key's scope is `\(name)`") }
            return RecordedKey(
                name: try row.text(0), scope: scope, createdAt: try row.instant(2),
                revokedAt: try row.instantIfPresent(3))
        }
    }
}
