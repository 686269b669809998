package import Foundation
import TenureCore

/// One signed artifact, byte for byte as received. All facts can be computed again from the artifacts.
package struct Artifact: Sendable, Hashable {
    /// The kinds of artifacts, by the codes in the database.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case appTransaction = 1
        case transaction = 2
        case renewalInfo = 3
        case receipt = 4

        /// Whether the artifact is a compact JWS: three segments joined by dots. Most artifacts have the same first
        /// segment.
        var isJWS: Bool { self != .receipt }
    }

    package let kind: Kind
    /// The artifact as received: a compact JWS, or a receipt.
    package let bytes: [UInt8]
    /// The hash of the signed part. Two artifacts that differ only in unsigned bytes count as the same artifact.
    package let sha256: [UInt8]
    /// When the App Store signed the artifact; nil if the artifact doesn't say.
    package let signedDate: Date?

    package init(_ kind: Kind, bytes: [UInt8], sha256: [UInt8], signedDate: Date?) {
        self.kind = kind
        self.bytes = bytes
        self.sha256 = sha256
        self.signedDate = signedDate
    }

    /// The header of a JWS (nil for a receipt), and the remaining bytes. A header has 4.5 KB of certificates. Most
    /// artifacts have the same header, so the database stores each header only once.
    var parts: (header: ArraySlice<UInt8>?, rest: ArraySlice<UInt8>) {
        kind.isJWS ? bytes.partsOfJWS : (nil, bytes[...])
    }
}

extension [UInt8] {
    /// The header of a compact JWS (nil if the bytes contain no dot), and the remaining bytes, from the dot on.
    var partsOfJWS: (header: ArraySlice<UInt8>?, rest: ArraySlice<UInt8>) {
        guard let dot = self[...].firstIndex(of: UInt8(ascii: "."), from: 0) else { return (nil, self[...]) }
        return (self[..<dot], self[dot...])
    }
}

/// Stores and reads signed artifacts.
extension DatabaseTransaction {
    /// The maximum number of artifacts of one member (row of `customers`), so that an account can't fill the disk. An
    /// app that syncs daily sends fewer artifacts in ten years.
    static let maximumArtifactsPerMember = 5000

    /// Stores artifacts. Artifacts beyond the maximum aren't stored, but the facts that they prove still count.
    ///
    /// - Parameters:
    ///   - isNew: whether the customer was created by this transaction, and so has no artifacts yet.
    ///   - updateID: the large update to which the artifacts belong; nil for other updates. The service uses the
    ///     artifacts once the last transaction of the update has ended.
    func insert(
        _ artifacts: [Artifact], of customer: Customer, isNew: Bool, updateID: Int64? = nil
    ) throws(StoreError) {
        guard !artifacts.isEmpty else { return }
        var count = isNew ? 0 : try artifactCount(of: customer.member)
        let known = count == 0 ? [:] : try knownArtifacts(among: artifacts, of: customer.member)
        // PostgreSQL sessions have no cache of headers. A list needs one: nearly all its headers are the same.
        let headers = session.headers ?? HeaderRowIDs()
        for artifact in artifacts {
            switch known[artifact.sha256] {
            case .counts: continue
            case .unfinished(let other): try moveArtifact(artifact, from: other, of: customer.member, for: updateID)
            case nil:
                guard count < Self.maximumArtifactsPerMember else { continue }
                if try insert(artifact, of: customer, headers, updateID: updateID) { count += 1 }
            }
        }
    }

    /// The state of an artifact that is stored already.
    enum KnownArtifact: Equatable {
        /// The artifact is one of the customer's artifacts.
        case counts
        /// The artifact belongs to a large update with this ID, which isn't finished, so the artifact doesn't count
        /// yet.
        case unfinished(updateID: Int64)
    }

    /// Returns which artifacts are stored already, by hash. Call it before the insert, so that no header is stored for
    /// known artifacts.
    func knownArtifacts(among artifacts: [Artifact], of member: Int64) throws(StoreError) -> [[UInt8]: KnownArtifact] {
        var known: [[UInt8]: KnownArtifact] = [:]
        for chunk in artifacts.map(\.sha256).chunks(of: Self.digestsPerStatement) {
            let size = chunk.count == 1 ? 1 : Self.digestsPerStatement
            let rows = try session.rows(
                """
                SELECT sha256, update_id, CASE WHEN \(Self.doesArtifactCount) THEN 1 ELSE 0 END
                FROM artifacts WHERE customer = $1 AND sha256 IN (\(Self.placeholders(size, from: 2)))
                """, [.integer(member)] + chunk.map { SQLValue.blob($0) }.padded(to: size))
            for row in rows {
                let updateID = try row.integerIfPresent(1)
                known[try row.bytes(0)] = try row.integer(2) == 1 ? .counts : updateID.map { .unfinished(updateID: $0) }
            }
        }
        return known
    }

    /// The SQL condition for a row of `artifacts` that counts: it doesn't belong to an unfinished update.
    static let doesArtifactCount = """
        (artifacts.update_id IS NULL OR NOT EXISTS (
            SELECT 1 FROM unfinished_updates
            WHERE unfinished_updates.customer = artifacts.customer AND unfinished_updates.update_id = artifacts.update_id
        ))
        """

    /// How many hashes one statement reads, unless it reads only one. With two sizes, few statements are prepared.
    private static let digestsPerStatement = 32

    /// The number of a member's artifacts, including artifacts of an unfinished update, which don't count yet.
    func artifactCount(of member: Int64) throws(StoreError) -> Int {
        try session.count("SELECT count(*) FROM artifacts WHERE customer = $1", [.integer(member)])
    }

    /// Stores one artifact. Returns false if it is stored already; otherwise true.
    private func insert(
        _ artifact: Artifact, of customer: Customer, _ headers: HeaderRowIDs, updateID: Int64?
    ) throws(StoreError) -> Bool {
        let (header, rest) = artifact.parts
        let headerID = SQLValue(try header.map { header throws(StoreError) in try self.headerID(header, headers) })
        return try session.execute(
            """
            INSERT INTO artifacts (customer, kind, sha256, header, bytes, signed_at, received_at, update_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """,
            [
                .integer(customer.member), SQLValue(artifact.kind.rawValue), .blob(artifact.sha256), headerID,
                SQLValue(rest), SQLValue(artifact.signedDate), milliseconds, SQLValue(updateID),
            ]) > 0
    }

    /// Returns the row ID of a header in the table `headers`. Stores the header if it isn't stored yet. PostgreSQL
    /// compares hashes, because a header is too large for PostgreSQL's indexes.
    ///
    /// - Parameter headers: the cache to use; nil for the cache of the session, if it has one.
    func headerID(_ bytes: ArraySlice<UInt8>, _ headers: HeaderRowIDs? = nil) throws(StoreError) -> Int64 {
        let headers = headers ?? session.headers
        if let known = headers?.rowID(of: bytes) { return known }
        let find =
            switch session.dialect {
            case .sqlite: "SELECT id FROM headers WHERE bytes = $1"
            case .postgres: "SELECT id FROM headers WHERE sha256(bytes) = sha256($1)"
            }
        var rowID = try session.row(find, [SQLValue(bytes)])?.integer(0)
        if rowID == nil {
            rowID = try session.insert(
                "INSERT INTO headers (bytes) VALUES ($1) ON CONFLICT DO NOTHING", [SQLValue(bytes)])
        }
        // If another transaction inserted the header first, read its row ID.
        if rowID == nil { rowID = try session.row(find, [SQLValue(bytes)])?.integer(0) }
        guard let rowID else { throw .defect("a header wasn't stored") }
        headers?.remember(bytes, rowID: rowID)
        return rowID
    }

    /// Returns a member's artifacts that count, with the time when each was received.
    func storedArtifacts(of member: Int64) throws(StoreError) -> [(artifact: Artifact, receivedAt: Date)] {
        try numberedArtifacts(of: member).map { ($0.artifact, $0.receivedAt) }
    }

    /// Returns a page of a member's artifacts that count, with their row IDs.
    ///
    /// - Parameter number: the row ID of the last artifact on the previous page; 0 for the first page.
    func numberedArtifacts(
        of member: Int64, after number: Int64 = 0, limit: Int = .max
    ) throws(StoreError) -> [(number: Int64, artifact: Artifact, receivedAt: Date)] {
        // The plus before `artifacts.id` keeps the database from using the index of row IDs, which has the artifacts of
        // all customers.
        try session.rows(
            """
            SELECT kind, sha256, headers.bytes, artifacts.bytes, signed_at, received_at, artifacts.id
            FROM artifacts LEFT JOIN headers ON headers.id = header
            WHERE customer = $1 AND +artifacts.id > $2 AND \(Self.doesArtifactCount) ORDER BY +artifacts.id LIMIT $3
            """, [.integer(member), .integer(number), SQLValue(limit)]
        ).map { row throws(StoreError) in
            let kind = try row.codedValue(0, "kind of artifact", Artifact.Kind.init(rawValue:))
            let header = try row.bytesIfPresent(2) ?? []
            let artifact = Artifact(
                kind, bytes: header + (try row.bytes(3)), sha256: try row.bytes(1),
                signedDate: try row.instantIfPresent(4))
            return (try row.integer(6), artifact, try row.instant(5))
        }
    }

    /// Returns a page of a member's artifacts and notifications; nil if there is no such member.
    ///
    /// - Parameters:
    ///   - id: the row ID of the member.
    ///   - position: the end of the previous page.
    ///   - limit: the maximum number of artifacts, and the maximum number of notifications.
    package func signedEntries(
        of id: Int64, after position: SignedEntries.Position, limit: Int
    ) throws(StoreError) -> SignedEntries? {
        guard let member = try member(.rowID(id), forUpdate: false) else { return nil }
        let artifacts = try numberedArtifacts(of: id, after: position.artifact, limit: limit)
        let notifications = try numberedNotifications(of: id, after: position.notification, limit: limit)
        var end = position
        if let last = artifacts.last { end.artifact = last.number }
        if let last = notifications.last { end.notification = last.number }
        return SignedEntries(
            publicID: member.publicID, artifacts: artifacts.map { ($0.artifact, $0.receivedAt) },
            notifications: notifications.map { ($0.notification, $0.receivedAt) }, end: end)
    }
}
