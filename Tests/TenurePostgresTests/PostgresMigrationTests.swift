import Foundation
import PostgresServer
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `the schema of a PostgreSQL database` {
    @Test(arguments: 0..<Migration.all.count)
    func `a PostgreSQL database of every earlier schema version is migrated with its data`(version: Int) async throws {
        let address = try freshAddress()
        if version > 0 {
            let connection = try PostgresConnection(to: address, for: .transactions)
            try connection.migrate(Array(Migration.all.prefix(version)))
            _ = try connection.execute(
                "INSERT INTO \(address.schema).customers (id, realm, public_id, created_at, facts) VALUES (7, 0, 'cus_a', 1000, $1)",
                [.blob(CustomerFacts().encoded)])
        }
        try await withStore(at: address) { store in
            #expect(try await store.lookUp(7)?.publicID == (version > 0 ? "cus_a" : nil))
            _ = try await store.add("a", to: "704")
        }
        let fresh = try freshAddress()
        try await withStore(at: fresh) { _ in }
        #expect(try shape(of: address) == shape(of: fresh))
    }

    @Test func `a PostgreSQL database with the schema of a newer release is refused`() async throws {
        let address = try freshAddress()
        try await withStore(at: address) { _ in }
        _ = try PostgresConnection(to: address, for: .transactions)
            .execute("INSERT INTO \(address.schema).migrations VALUES ('999 later', 0)")
        let error = await #expect(throws: StoreError.self) { try await Store(PostgresDatabase(address)) }
        guard case .newerDatabase? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("newer release") == true)
    }

    @Test func `processes that start together create the schema of a PostgreSQL database once`() async throws {
        let address = try freshAddress()
        let ids = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<6 { group.addTask { try await withStore(at: address) { $0.databaseID } } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test func `a PostgreSQL migration that fails changes nothing`() throws {
        let address = try freshAddress()
        let connection = try PostgresConnection(to: address, for: .transactions)
        _ = try connection.run("CREATE SCHEMA \(address.schema); CREATE TABLE \(address.schema).events (id BIGINT)")
        #expect(throws: PostgresFailure.self) { try connection.migrate() }
        let tables = try connection.rows(
            "SELECT tablename::text FROM pg_tables WHERE schemaname = $1", [.text(address.schema)])
        #expect(tables == [SQLRow([.text("events")])])
    }

    // Queries for ranges of texts need the same order as in SQLite.
    @Test
    func `strings in PostgreSQL are ordered by their bytes, whatever the database's language`() async throws {
        try await withStore { store in
            let names = try await store.database.write(locking: []) { session throws(StoreError) in
                try session.execute(
                    "INSERT INTO progress (name, value) VALUES ('a', ''), ('B', ''), ('a b', ''), ('a!c', '')")
                return try session.rows("SELECT name FROM progress WHERE name >= 'B' ORDER BY name")
                    .map { row throws(StoreError) in try row.text(0) }
            }
            #expect(names == ["B", "a", "a b", "a!c"])
        }
    }

    // A role that may use a schema may not have the privilege to create schemas.
    @Test func `a role without the privilege to create schemas can use an existing PostgreSQL schema`() async throws {
        let schema = freshSchema()
        let server = try PostgresServer.shared()
        let owner = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        _ = try owner.run("CREATE ROLE \(schema) LOGIN; CREATE SCHEMA \(schema) AUTHORIZATION \(schema)")
        let address = try PostgresAddress(server.url(user: schema, "schema=\(schema)"))
        try await withStore(at: address) { _ = try await $0.add("a", to: "704") }
    }
}
