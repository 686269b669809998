import Foundation
import TenureCore

extension DatabaseTransaction {
    package func record(_ rehearsal: StoredRehearsal) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO rehearsals (id, base, sha256, at, actor, gaining, losing, losing_with_promises, report)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .text(rehearsal.id), .integer(rehearsal.base), .blob(rehearsal.sha256),
                .integer(rehearsal.at.millisecondsSince1970), .text(rehearsal.actor), SQLValue(rehearsal.gaining),
                SQLValue(rehearsal.losing), SQLValue(rehearsal.losingWithPromises),
                .text(String(decoding: rehearsal.report, as: UTF8.self)),
            ])
    }

    package func rehearsal(_ id: String) throws(StoreError) -> StoredRehearsal? {
        try session.row(
            """
            SELECT id, base, sha256, at, actor, gaining, losing, losing_with_promises, report FROM rehearsals
            WHERE id = $1 AND NOT EXISTS (
                SELECT 1 FROM unfinished_updates JOIN customers ON customers.id = customer
                WHERE update_id = \(Self.erasing) AND report LIKE '%' || public_id || '%')
            """, [.text(id)]
        ).map { row throws(StoreError) in
            StoredRehearsal(
                id: try row.text(0), base: try row.integer(1), sha256: try row.bytes(2), at: try row.instant(3),
                actor: try row.text(4), gaining: Int(clamping: try row.integer(5)),
                losing: Int(clamping: try row.integer(6)), losingWithPromises: Int(clamping: try row.integer(7)),
                report: Array(try row.text(8).utf8))
        }
    }

    /// Rehearsals with examples that name one of the customers. It reads all reports, so only read transactions use it.
    func rehearsals(naming customers: [Int64]) throws(StoreError) -> [String] {
        let rows = try rows(
            """
            SELECT rehearsals.id FROM rehearsals WHERE EXISTS (
                SELECT 1 FROM customers
                WHERE customers.id IN \(DatabaseTable.batchPlaces) AND report LIKE '%' || public_id || '%')
            """, about: customers)
        return try rows.map { row throws(StoreError) in try row.text(0) }
    }

    func removeRehearsal(_ id: String) throws(StoreError) {
        try session.execute("DELETE FROM rehearsals WHERE id = $1", [.text(id)])
    }
}
