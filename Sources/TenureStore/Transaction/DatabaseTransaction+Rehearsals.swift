package import Foundation
import TenureJSON

/// The result of a rehearsal: a dry run of a policy over all customers.
package struct StoredRehearsal: Sendable, Hashable {
    /// The public ID of the rehearsal (`reh_…`).
    package let id: String
    /// The ID of the publication that was in effect at the rehearsal.
    package let base: Int64
    /// The hash of the rehearsed policy.
    package let sha256: [UInt8]
    package let at: Date
    /// The name of the admin key in the request.
    package let actor: String
    /// The number of customers who would gain something.
    package let gaining: Int
    /// The number of customers who would lose something if the publication ended promises.
    package let losing: Int
    /// The number of customers who would lose something even if the publication kept all promises.
    package let losingWithPromises: Int
    /// The report in JSON.
    package let report: [UInt8]

    package init(
        id: String = PublicID.rehearsal.random(), base: Int64, sha256: [UInt8], at: Date, actor: String, gaining: Int,
        losing: Int, losingWithPromises: Int, report: [UInt8]
    ) {
        self.id = id
        self.base = base
        self.sha256 = sha256
        self.at = at.toMillisecond
        self.actor = actor
        self.gaining = gaining
        self.losing = losing
        self.losingWithPromises = losingWithPromises
        self.report = report
    }
}

/// Stores and reads the results of rehearsals: dry runs of a policy over all customers.
extension DatabaseTransaction {
    package func record(_ rehearsal: StoredRehearsal) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO rehearsals (id, base, sha256, at, actor, gaining, losing, losing_with_promises, report)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .text(rehearsal.id), .integer(rehearsal.base), .blob(rehearsal.sha256), SQLValue(rehearsal.at),
                .text(rehearsal.actor), SQLValue(rehearsal.gaining), SQLValue(rehearsal.losing),
                SQLValue(rehearsal.losingWithPromises), .text(String(decoding: rehearsal.report, as: UTF8.self)),
            ])
    }

    /// Returns the rehearsal with this ID; nil if there is no such rehearsal. Leaves out the examples in the report
    /// that name customers who are being erased.
    package func rehearsal(_ id: String) throws(StoreError) -> StoredRehearsal? {
        let row = try session.row(
            """
            SELECT id, base, sha256, at, actor, gaining, losing, losing_with_promises, report FROM rehearsals
            WHERE id = $1
            """, [.text(id)])
        guard let row else { return nil }
        let erased = try session.texts(
            """
            SELECT public_id FROM unfinished_updates JOIN customers ON customers.id = customer
            WHERE update_id = \(Self.erasureUpdateID) AND CAST($1 AS TEXT) LIKE '%' || public_id || '%'
            """, [.text(try row.text(8))])
        return StoredRehearsal(
            id: try row.text(0), base: try row.integer(1), sha256: try row.bytes(2), at: try row.instant(3),
            actor: try row.text(4), gaining: try row.count(5), losing: try row.count(6),
            losingWithPromises: try row.count(7),
            report: try Self.report(Array(try row.text(8).utf8), without: Set(erased)))
    }

    /// Returns the rehearsals with examples that name one of these customers: the public IDs of the named customers, by
    /// the ID of the rehearsal. Reads all reports, so call this only in a transaction that doesn't write.
    func rehearsals(naming customers: [Int64]) throws(StoreError) -> [String: Set<String>] {
        let rows = try rows(
            """
            SELECT rehearsals.id, public_id FROM rehearsals JOIN customers
            ON customers.id IN \(Self.batch) AND report LIKE '%' || public_id || '%'
            """, about: customers)
        var named: [String: Set<String>] = [:]
        for row in rows { named[try row.text(0), default: []].insert(try row.text(1)) }
        return named
    }

    /// Removes the examples that name these customers. The counts in the report stay, because a publication may refer
    /// to the rehearsal.
    func removeExamples(of customers: Set<String>, from rehearsal: String) throws(StoreError) {
        let row = try session.row("SELECT report FROM rehearsals WHERE id = $1", [.text(rehearsal)])
        guard let row else { return }
        let report = try Self.report(Array(try row.text(0).utf8), without: customers)
        try session.execute(
            "UPDATE rehearsals SET report = $1 WHERE id = $2",
            [.text(String(decoding: report, as: UTF8.self)), .text(rehearsal)])
    }

    /// Returns a report without the list elements that name one of the customers.
    private static func report(_ bytes: [UInt8], without customers: Set<String>) throws(StoreError) -> [UInt8] {
        guard !customers.isEmpty else { return bytes }
        do {
            return try JSONValue(parsing: bytes).without(customers)?.bytes ?? Array("{}".utf8)
        } catch {
            throw .damaged("the report of a rehearsal isn't JSON")
        }
    }
}

extension JSONValue {
    /// Returns the value without list elements that contain one of the texts. Nil if the value itself is one of the
    /// texts, or an object with a value that is nil by this rule.
    fileprivate func without(_ texts: Set<String>) -> JSONValue? {
        switch self {
        case .string(let text): return texts.contains(text) ? nil : self
        case .array(let elements): return .array(elements.compactMap { $0.without(texts) })
        case .object(let object):
            var rest = JSONObject()
            for member in object.members {
                guard let value = member.value.without(texts) else { return nil }
                rest[member.name] = value
            }
            return .object(rest)
        default: return self
        }
    }
}
