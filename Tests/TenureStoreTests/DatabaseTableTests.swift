import Foundation
import Testing

@testable import TenureStore

@Suite struct `the tables of the database` {
    @Test func `DatabaseTable lists all tables of a new database, each after the tables that it refers to`() throws {
        try withFolder { folder in
            _ = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            let database = try SQLiteConnection(path: folder + "/tenure.sqlite", for: .writing)
            let there = try database.tables().subtracting([SQLiteConnection.migrationsTable, DatabaseTable.state])
            let tables = try DatabaseTable.all()
            #expect(Set(tables.map(\.name)) == there)
            for (index, table) in tables.enumerated() {
                for parent in table.columns.compactMap(\.references) where parent != table.name {
                    #expect(tables[..<index].contains { $0.name == parent }, "\(table.name) refers to \(parent)")
                }
            }
            #expect(tables.first { $0.name == "artifacts" }?.ownerColumn == 1)
            #expect(tables.first { $0.name == "customers" }?.selfReference != nil)
            #expect(tables.first { $0.name == "identities" }?.key.count == 3)
            let keys = Dictionary(tables.map { ($0.name, $0.keyList) }) { $1 }
            #expect(keys["identities"] == #""value", "kind", "realm""#)
            #expect(keys["unbound_links"] == #""unbound", "customer""#)
            #expect(keys["database"] == "")
            let numbered = ["artifacts", "customers", "deliveries", "policies", "promises", "publications"]
            let named = ["database", "devices", "endpoints", "identities", "progress", "rehearsals", "requests"]
            let isNumbered = Dictionary(tables.map { ($0.name, $0.isNumbered) }) { $1 }
            #expect(numbered.allSatisfy { isNumbered[$0] == true })
            #expect(named.allSatisfy { isNumbered[$0] == false })
            let customers = try #require(tables.first { $0.name == "customers" })
            #expect(customers.ownerColumn == nil)
            #expect(customers.selfReference == customers.columns.firstIndex { $0.name == "merged_into" })
            let publications = try #require(tables.first { $0.name == "publications" })
            #expect(publications.ownerColumn == nil && publications.selfReference == nil)
            #expect(publications.columns.map(\.references).prefix(3) == [nil, "policies", nil])
        }
    }

    /// The value and the kind of an identity.
    private static func text(of row: SQLRow) throws(StoreError) -> String {
        let (kind, value) = (try row.integer(1), try row.text(2))
        return "\(value) \(kind)"
    }

    @Test func `a table is read page by page in the order of its key, each row once, also with a condition`()
        async throws
    {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            let tables = try DatabaseTable.all()
            let identities = try #require(tables.first { $0.name == "identities" })
            let values = (100..<140).map(String.init)
            try await database.write(locking: []) { session throws(StoreError) in
                let customer = try session.insert(
                    "INSERT INTO customers (realm, public_id, created_at, facts) VALUES (0, 'cus', 0, $1)",
                    [.blob(CustomerFacts().encoded)])
                for value in values.reversed() {
                    for kind: Int64 in [3, 1] {
                        try session.execute(
                            "INSERT INTO identities (realm, kind, value, customer) VALUES (0, $1, $2, $3)",
                            [.integer(kind), .text(value), SQLValue(customer)])
                    }
                }
            }
            let found = try await database.read { session throws(StoreError) -> [[String]] in
                var found: [[String]] = [[], [], []]
                try identities.eachPage(in: session) { rows throws(StoreError) in
                    for row in rows { found[0].append(try Self.text(of: row)) }
                    found[1].append(String(rows.count))
                }
                try identities.eachPage(in: session, where: "kind = $1 OR kind = $2", [3, 9]) {
                    rows throws(StoreError) in
                    for row in rows { found[2].append(try Self.text(of: row)) }
                }
                return found
            }
            #expect(found[0] == values.flatMap { ["\($0) 1", "\($0) 3"] })
            #expect(found[1] == ["32", "32", "16"])
            #expect(found[2] == values.map { "\($0) 3" })
        }
    }

    @Test func `a database dump has the customers in the byte order of their public IDs`() async throws {
        try await withFolder { folder in
            let letters = ["a", "B", "z", "é", "0", "_", "ß", "\u{1F34F}", "Ä", "A\u{308}"]
            let names = letters.flatMap { first in letters.map { first + $0 } }
            let database = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            try await database.write(locking: []) { session throws(StoreError) in
                for name in names.shuffled() {
                    try session.execute(
                        "INSERT INTO customers (realm, public_id, created_at, facts) VALUES (0, $1, 0, $2)",
                        [.text(name), .blob(CustomerFacts().encoded)])
                }
            }
            let dumped = try await database.read { session throws(StoreError) -> [String] in
                var dumped: [String] = []
                try DatabaseWalk(session).eachEntry { entry in
                    guard entry.table.name == DatabaseTable.customers,
                        let column = entry.table.columns.firstIndex(where: { $0.name == "public_id" }),
                        case .text(let name) = entry.values[column]
                    else { return }
                    dumped.append(name)
                }
                return dumped
            }
            #expect(dumped == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
    }
}
