import Foundation
import TenureCore
package import TenureStore

/// A database as an earlier release left it: rows in every table that it had.
package enum EarlierRelease {
    /// Three rows for each table, with numbers, texts and bytes that tell the columns apart, and references that lead
    /// somewhere. What is known of a customer is in the form that is stored.
    package static func fill(_ session: any SQLSession, after migrations: [Migration]) throws(StoreError) {
        for table in try tables(after: migrations) where !table.key.isEmpty {
            for row in 1...3 {
                let values = table.columns.enumerated().map { index, column in
                    value(of: column, at: index, in: table, row: row)
                }
                let places = (1...values.count).map { "$\($0)" }.joined(separator: ", ")
                let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
                try session.execute("INSERT INTO \(table.name) (\(names)) VALUES (\(places))", values)
            }
        }
    }

    /// Without those of messages in their first form: no release wrote to them, and the next step makes them anew.
    private static func tables(after migrations: [Migration]) throws(StoreError) -> [RecordTable] {
        let tables = try RecordTable.all(after: migrations)
        let outbox = tables.first { $0.name == "outbox" }
        guard let outbox, !outbox.columns.contains(where: { $0.name == "data" }) else { return tables }
        return tables.filter { !["outbox", "deliveries", "delivery_log"].contains($0.name) }
    }

    private static func value(
        of column: RecordTable.Column, at index: Int, in table: RecordTable, row: Int
    ) -> SQLValue {
        if column.references == table.name { return row == 2 ? 1 : nil }
        if column.references != nil { return .integer(Int64(row)) }
        switch (column.name, column.type) {
        case ("facts", _): return .blob(facts(row).encoded)
        case ("realm", _): return .integer(Int64(Realm(.production).code))
        case (_, "INTEGER"): return .integer(Int64(table.key == [index] ? row : row + 10 * index))
        case (_, "REAL"): return .real(Double(row) + 0.5)
        case (_, "BLOB"): return .blob([UInt8(row), UInt8(index), 0, 255])
        default: return .text("\(table.name) \(column.name) \(row) “ß”")
        }
    }

    static func facts(_ row: Int) -> CustomerFacts {
        var facts = CustomerFacts()
        facts.add([Sample.proof("70\(row)")])
        facts.add([Sample.purchase("\(row)", revoked: row == 2)])
        facts.add([Sample.promise(policy: Int64(row))])
        return facts
    }

    /// What stands in the columns that these migrations made, one line for each row, in any order.
    package static func contents(
        _ session: any SQLSession, after migrations: [Migration]
    ) throws(StoreError) -> Set<String> {
        var lines: Set<String> = []
        for table in try tables(after: migrations) {
            let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
            for row in try session.rows("SELECT \(names) FROM \(table.name)") {
                lines.insert("\(table.name) \(row.values)")
            }
        }
        return lines
    }

    /// Whether those customers are known today for what they were known for then.
    package static func expectKnown(_ store: any Store) async throws {
        for row in 1...3 where row != 2 {
            let customer = try unwrap(try await store.customer(Int64(row)), "customer \(row)")
            try expect(customer.facts == facts(row), "known for the same")
        }
    }
}
