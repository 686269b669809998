import Crypto
import TenureCore
import TenureJSON
package import TenureStore

/// The canonical dump of a database: one line of JSON for each row, in an order that depends only on the content (see
/// `DatabaseWalk`). Two databases with the same dump have the same content.
///
/// Each column is a field with its name. Instants are milliseconds since 1970, bytes are Base64, and customers are
/// identified by their public IDs. SQLite and PostgreSQL with the same content give the same bytes.
package enum DatabaseDump {
    /// Passes the lines of one snapshot of the database to `sink`, in pieces of about 64 KB. Other processes may write
    /// to the database meanwhile.
    ///
    /// - Parameter progress: Called with the number of customers written so far, and of all customers.
    /// - Returns: The number of lines.
    package static func write(
        of store: Store, progress: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in },
        to sink: @escaping @Sendable ([UInt8]) throws(StoreError) -> Void
    ) async throws(StoreError) -> Int {
        try await store.database.read { session throws(StoreError) in
            let walk = try DatabaseWalk(session)
            let total = try DatabaseTransaction(session).customerCount()
            var customers: Int64 = 0
            var count = 0
            var lines: [UInt8] = []
            try walk.eachEntry { entry throws(StoreError) in
                lines += entry.line
                count += 1
                if entry.table.name == "customers" {
                    customers += 1
                    progress(customers, total)
                }
                if lines.count >= 1 << 16 {
                    try sink(lines)
                    lines.removeAll(keepingCapacity: true)
                }
            }
            try sink(lines)
            return count
        }
    }

    /// Returns the number of lines of each table, and the hash of these lines in the order of the dump. After a copy
    /// into another database, equal results for both databases show that the copy is complete.
    package static func sums(in session: any DatabaseSession) throws(StoreError) -> [String: DatabaseCopySum] {
        let walk = try DatabaseWalk(session)
        var hashes = Dictionary(uniqueKeysWithValues: walk.tableNames.map { ($0, (lines: 0, hash: SHA256())) })
        try walk.eachEntry { entry in
            hashes[entry.table.name]?.lines += 1
            hashes[entry.table.name]?.hash.update(data: entry.line)
        }
        return hashes.mapValues { DatabaseCopySum(count: $0.lines, sha256: Array($0.hash.finalize())) }
    }
}

extension DatabaseWalk.Entry {
    /// The line with its newline. Characters that would alter a terminal's display are escaped.
    package var line: [UInt8] {
        let json = JSONWriter.object(.compact, capacity: 256) { json in
            json.field("table", table.name)
            for (column, value) in zip(table.columns, values) {
                json.key(column.name)
                switch value {
                case .null: json.null()
                case .integer(let number): json.value(number)
                case .real(let number): json.value(number)
                case .text(let text): json.value(text)
                case .blob(let bytes): json.value(Base64.standard.text(bytes))
                }
            }
        }
        return Array(String(decoding: json, as: UTF8.self).escapedJSONForDisplay.utf8) + [UInt8(ascii: "\n")]
    }
}
