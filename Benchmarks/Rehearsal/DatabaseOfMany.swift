import CSQLite
import Foundation

/// Makes a database of millions of customers from a smaller one: it repeats each row with other IDs, in the order in
/// which a service writes rows. Copying rows takes minutes, while storing as many customers takes most of an hour.
///
/// The IDs in a customer's facts aren't changed, because a rehearsal compares them only with each other.
enum DatabaseOfMany {
    /// How many customers one statement copies.
    private static let block = 10_000

    /// Makes the database, unless it exists.
    ///
    /// - Parameters:
    ///   - count: the number of customers to make, a multiple of `base`.
    ///   - path: the database to copy, with `base` customers.
    static func make(at target: String, of count: Int, from path: String, of base: Int) throws {
        guard !FileManager.default.fileExists(atPath: target) else { return }
        try execute("PRAGMA wal_checkpoint(TRUNCATE)", at: path)
        // Under another name until it's complete, because the run may be interrupted.
        let part = target + ".part"
        try? FileManager.default.removeItem(atPath: part)
        try FileManager.default.copyItem(atPath: path, toPath: part)
        try execute(
            "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000",
            "BEGIN", at: part
        ) { connection in
            for shift in stride(from: base, to: count, by: base) {
                for start in stride(from: 0, to: base, by: block) {
                    try run(rows(shiftedBy: shift, from: start, through: start + block), on: connection)
                }
                print("\(shift + base) customers at \(part)")
            }
        }
        try execute("PRAGMA journal_mode = WAL", at: part)
        try FileManager.default.moveItem(atPath: part, toPath: target)
    }

    /// Returns the statements that copy customers with numbers above `start`, up to `end`.
    private static func rows(shiftedBy shift: Int, from start: Int, through end: Int) -> String {
        let range = "customer > \(start) AND customer <= \(end)"
        return """
            INSERT INTO customers (id, realm, public_id, created_at, facts, merged_into, sent_entitlements, next_comparison)
            SELECT id + \(shift), realm, public_id || \(shift), created_at, facts, merged_into, sent_entitlements, next_comparison
            FROM customers WHERE id > \(start) AND id <= \(end);
            INSERT INTO identities (realm, kind, value, customer)
            SELECT realm, kind, CAST(value + \(shift) AS TEXT), customer + \(shift) FROM identities WHERE \(range);
            INSERT INTO promises (customer, entitlement, app_transaction_id, download_id, original_purchase_date, policy,
                until, recorded_at)
            SELECT customer + \(shift), entitlement, CAST(app_transaction_id + \(shift) AS TEXT), download_id,
                original_purchase_date, policy, until, recorded_at
            FROM promises WHERE \(range);
            INSERT INTO events (customer, kind, at, actor, detail)
            SELECT customer + \(shift), kind, at, actor, detail FROM events WHERE \(range);
            """
    }

    /// Opens a database, runs the preparations and `body`, and commits if a transaction is open.
    private static func execute(
        _ preparations: String..., at path: String, _ body: (OpaquePointer) throws -> Void = { _ in }
    ) throws {
        var opened: OpaquePointer?
        defer { sqlite3_close_v2(opened) }
        guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
            throw BenchmarkFailure("SQLite can't open `\(path)`")
        }
        for preparation in preparations { try run(preparation, on: opened) }
        try body(opened)
        if sqlite3_get_autocommit(opened) == 0 { try run("COMMIT", on: opened) }
    }

    private static func run(_ sql: String, on connection: OpaquePointer) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkFailure("SQLite: \(String(cString: sqlite3_errmsg(connection)))")
        }
    }
}
