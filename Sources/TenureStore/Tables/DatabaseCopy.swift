import TenureCore

/// Copies a whole database into an empty one, in one transaction on each side. Each database may be SQLite or
/// PostgreSQL.
///
/// All rows keep their row IDs, and the copy gets the database ID of the source. Access tokens contain both IDs, so
/// they stay valid.
package struct DatabaseCopy: Sendable {
    let tables: [DatabaseTable]

    package init() throws(StoreError) { tables = try DatabaseTable.all() }

    /// Computes the checksum of each table in a transaction, and returns them by the name of the table.
    package typealias Summary = @Sendable (any DatabaseSession) throws(StoreError) -> [String: DatabaseCopySum]

    /// What the source sends to the target.
    private enum Piece: Sendable {
        /// Rows to insert, with NULL in the column that refers to the same table.
        case rows(DatabaseTable, [SQLRow])
        /// Rows that were inserted already, to set the column that refers to the same table.
        case links(DatabaseTable, [SQLRow])
        /// The checksums of the source, and the last row ID that each table assigned, by the name of the table.
        case end([String: DatabaseCopySum], [String: Int64])
    }

    /// Copies everything. If anything fails before the end, the target stays unchanged.
    ///
    /// The source accepts no writes until the copy is complete. Before the target's transaction ends, the source is
    /// marked as moved. So no service writes to the source afterward, and the copy contains every acknowledged write.
    ///
    /// - Parameters:
    ///   - place: the path or URL of the target, without a password. The source stores it, for the error message of
    ///     services that still use the source.
    ///   - summarize: runs on both sides before the target's transaction ends. The results must be equal.
    ///   - progress: called with the number of rows that were copied, and the number of all rows.
    /// - Returns: the checksums of the copy.
    package func run(
        from source: any Database, to target: any Database, at place: String, summarize: @escaping Summary,
        progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws(StoreError) -> [String: DatabaseCopySum] {
        // An empty transaction throws if the source was moved already.
        try await source.write(locking: []) { _ in }
        let agreement = Agreement()
        async let mayBeMarked = send(source, at: place, summarize, progress, agreement)
        let sums: [String: DatabaseCopySum]
        do {
            sums = try await target.writeAlone { session throws(StoreError) in
                try receive(into: session, summarize, agreement)
            }
        } catch {
            let first = agreement.fail(error)
            if await mayBeMarked {
                // If removing the mark fails, the error message of services says how to remove it.
                try? await source.writeAlone { session throws(StoreError) in
                    try DatabaseHeader.markMoved(to: nil, in: session)
                }
            }
            throw first
        }
        _ = await mayBeMarked
        return sums
    }

    /// The messages between the source and the target.
    private struct Agreement: Sendable {
        let pieces = Handover<Piece>()
        /// The target sends true when its copy has the same checksums as the source.
        let copyConfirmation = Handover<Bool>()
        /// The source sends true when it is marked as moved, and the mark is flushed.
        let markConfirmation = Handover<Bool>()

        /// Makes both sides throw an error. Returns the error that they throw: that of the first call.
        func fail(_ error: StoreError) -> StoreError {
            let first = pieces.fail(error)
            copyConfirmation.fail(first)
            markConfirmation.fail(first)
            return first
        }
    }

    // MARK: The source

    /// Sends all rows to the target. When the target has copied them, marks the source as moved.
    ///
    /// Returns whether the source may be marked as moved. After a failed commit, the mark may be stored or not.
    private func send(
        _ source: any Database, at place: String, _ summarize: @escaping Summary,
        _ progress: @escaping @Sendable (Int64, Int64) -> Void, _ agreement: Agreement
    ) async -> Bool {
        let handover = agreement.pieces
        let mayBeMarked = Locked(false)
        do {
            // Keeps other transactions from writing.
            try await source.writeAlone { session throws(StoreError) in
                try session.allowPauses()
                // Another command may have moved the source after the empty transaction in `run`.
                guard try DatabaseHeader.read(in: session).movedTo == nil else { throw .busy }
                if session.dialect == .postgres {
                    let names = tables.map(\.name).joined(separator: ", ")
                    try session.execute("LOCK TABLE \(names) IN SHARE MODE")
                }
                var total: Int64 = 0
                for table in tables { total += try session.row("SELECT count(*) FROM \(table.name)")?.integer(0) ?? 0 }
                var done: Int64 = 0
                for table in tables {
                    try table.eachPage(in: session) { rows throws(StoreError) in
                        try handover.send(.rows(table, rows))
                        done += Int64(rows.count)
                        progress(done, total)
                    }
                    guard let link = table.selfReference else { continue }
                    let isLinked = "\"\(table.columns[link].name)\" IS NOT NULL"
                    try table.eachPage(in: session, where: isLinked) { rows throws(StoreError) in
                        try handover.send(.links(table, rows))
                    }
                }
                try handover.send(.end(try summarize(session), try lastNumbers(in: session)))
                _ = try agreement.copyConfirmation.receive()
                try DatabaseHeader.markMoved(to: place, in: session)
                mayBeMarked.withLock { $0 = true }
            }
            try agreement.markConfirmation.send(true)
        } catch {
            _ = agreement.fail(error)
        }
        return mayBeMarked.withLock { $0 }
    }

    // MARK: The target

    /// Writes the rows that the source sends. Returns the checksums of the copy, or throws if the source has others.
    private func receive(
        into session: any DatabaseSession, _ summarize: Summary, _ agreement: Agreement
    ) throws(StoreError) -> [String: DatabaseCopySum] {
        try session.allowPauses()
        for table in tables where table.name != DatabaseTable.databaseID {
            if try session.row("SELECT 1 FROM \(table.name) LIMIT 1") != nil { throw .notEmpty(table: table.name) }
        }
        // A new database has one row already: its ID. The source's row replaces it, so that access tokens stay valid.
        try session.execute("DELETE FROM \(DatabaseTable.databaseID)")
        while true {
            switch try agreement.pieces.receive() {
            case .rows(let table, let rows): try insert(rows, into: table, session)
            case .links(let table, let rows): try link(rows, in: table, session)
            case .end(let expected, let numbers):
                try setNumbers(numbers, session)
                let sums = try summarize(session)
                for table in tables where sums[table.name] != expected[table.name] {
                    throw .copyDiffers(
                        table: table.name, rows: sums[table.name]?.count ?? 0,
                        expected: expected[table.name]?.count ?? 0)
                }
                try agreement.copyConfirmation.send(true)
                _ = try agreement.markConfirmation.receive()
                return sums
            }
        }
    }

    /// Inserts rows, with NULL in the column that refers to the same table: the other row may come later.
    private func insert(_ rows: [SQLRow], into table: DatabaseTable, _ session: any DatabaseSession) throws(StoreError)
    {
        let width = table.columns.count
        let link = table.selfReference
        let values = rows.flatMap { row in row.values.indices.map { $0 == link ? SQLValue.null : row.values[$0] } }
        let placeholders = rows.indices.map { "(\(DatabaseTransaction.placeholders(width, from: $0 * width + 1)))" }
        try session.execute(
            "INSERT INTO \(table.name) (\(table.columnList)) VALUES \(placeholders.joined(separator: ", "))", values)
    }

    /// Sets the column that refers to the same table, in rows that were inserted already.
    private func link(_ rows: [SQLRow], in table: DatabaseTable, _ session: any DatabaseSession) throws(StoreError) {
        guard let link = table.selfReference, table.key.count == 1 else { return }
        let key = table.key[0]
        for row in rows {
            try session.execute(
                "UPDATE \(table.name) SET \"\(table.columns[link].name)\" = $1 WHERE \"\(table.columns[key].name)\" = $2",
                [row.values[link], row.values[key]])
        }
    }
}

/// The checksum of a table. Two tables with the same rows in the same order have the same checksum.
package struct DatabaseCopySum: Sendable, Hashable {
    /// The number of rows.
    package var count: Int
    package var sha256: [UInt8]

    package init(count: Int, sha256: [UInt8]) {
        self.count = count
        self.sha256 = sha256
    }
}
