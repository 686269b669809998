import Foundation
import TenureCore

extension Ledger {
    /// More than an app that syncs daily sends in ten years; so that nobody fills the disk with one account.
    static let artifactsPerCustomer = 5000

    /// A record that is full takes no more artifacts, and what they prove still counts.
    func insert(_ artifacts: [Artifact], of customer: Customer, isNew: Bool) throws(StoreError) {
        guard !artifacts.isEmpty else { return }
        var count: Int64 = 0
        if !isNew {
            let row = try session.row("SELECT count(*) FROM artifacts WHERE customer = $1", [.integer(customer.member)])
            count = try row?.integer(0) ?? 0
        }
        for artifact in artifacts where count < Self.artifactsPerCustomer {
            if try insert(artifact, of: customer, isNew: isNew) { count += 1 }
        }
    }

    /// Whether it was new.
    private func insert(_ artifact: Artifact, of customer: Customer, isNew: Bool) throws(StoreError) -> Bool {
        if !isNew {
            // Before the insert, so that one that is known needs no header.
            let known = try session.row(
                "SELECT 1 FROM artifacts WHERE customer = $1 AND sha256 = $2",
                [.integer(customer.member), .blob(artifact.sha256)])
            guard known == nil else { return false }
        }
        let (header, rest) = artifact.parts
        var headerID = SQLValue.null
        if let header { headerID = .integer(try self.headerID([UInt8](header))) }
        return try session.execute(
            """
            INSERT INTO artifacts (customer, kind, sha256, header, bytes, signed_at, received_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
            """,
            [
                .integer(customer.member), SQLValue(artifact.kind.rawValue), .blob(artifact.sha256), headerID,
                SQLValue(rest), SQLValue(artifact.signedDate?.millisecondsSince1970), milliseconds,
            ]) > 0
    }

    /// Each header stands once; which one is compared by hash where an index cannot hold it.
    func headerID(_ bytes: [UInt8]) throws(StoreError) -> Int64 {
        let find: String
        switch session.dialect {
        case .sqlite: find = "SELECT id FROM headers WHERE bytes = $1"
        case .postgres: find = "SELECT id FROM headers WHERE sha256(bytes) = sha256($1)"
        }
        if let row = try session.row(find, [.blob(bytes)]) { return try row.integer(0) }
        let insert = "INSERT INTO headers (bytes) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id"
        if let row = try session.row(insert, [.blob(bytes)]) { return try row.integer(0) }
        // Another transaction was quicker, and is over.
        guard let row = try session.row(find, [.blob(bytes)]) else { throw .failed("a header was not kept") }
        return try row.integer(0)
    }

    /// In the order in which they came.
    func artifacts(of customer: Int64) throws(StoreError) -> [Artifact] {
        try recordedArtifacts(of: customer).map(\.artifact)
    }

    func recordedArtifacts(of customer: Int64) throws(StoreError) -> [(artifact: Artifact, receivedAt: Date)] {
        try session.rows(
            """
            SELECT kind, sha256, headers.bytes, artifacts.bytes, signed_at, received_at
            FROM artifacts LEFT JOIN headers ON headers.id = header WHERE customer = $1 ORDER BY artifacts.id
            """, [.integer(customer)]
        ).map { row throws(StoreError) in
            let code = try row.integer(0)
            guard let kind = UInt8(exactly: code).flatMap({ Artifact.Kind(rawValue: $0) }) else {
                throw .damaged("no kind of artifact has the number \(code)")
            }
            let header = try row.bytesIfPresent(2) ?? []
            let artifact = Artifact(
                kind, bytes: header + (try row.bytes(3)), sha256: try row.bytes(1),
                signedDate: try row.instantIfPresent(4))
            return (artifact, try row.instant(5))
        }
    }
}
