import Foundation
import TenureCore

extension Ledger {
    func insert(_ rehearsal: RecordedRehearsal) throws(StoreError) {
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

    func rehearsal(_ id: String) throws(StoreError) -> RecordedRehearsal? {
        try session.row(
            """
            SELECT id, base, sha256, at, actor, gaining, losing, losing_with_promises, report FROM rehearsals WHERE id = $1
            """, [.text(id)]
        ).map { row throws(StoreError) in
            RecordedRehearsal(
                id: try row.text(0), base: try row.integer(1), sha256: try row.bytes(2), at: try row.instant(3),
                actor: try row.text(4), gaining: Int(clamping: try row.integer(5)),
                losing: Int(clamping: try row.integer(6)), losingWithPromises: Int(clamping: try row.integer(7)),
                report: Array(try row.text(8).utf8))
        }
    }
}
