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
