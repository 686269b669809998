import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `PgBouncer before PostgreSQL` {
    /// The database of one app, and the customers that it acknowledged, by acquisition.
    private struct App {
        let name: String
        let schema = freshSchema()
        let acknowledged = Log<Customer>()

        /// Adds customers and looks each up, from several tasks at once.
        func run(on store: Store, customers: Int, tasks: Int) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for number in stride(from: task, to: customers, by: tasks) {
                            // Both apps have customers with the same acquisitions.
                            let customer = try await store.add("\(name) \(number)", to: "\(number)")
                            #expect(try await store.lookUp(customer.id) == customer)
                            let artifacts = try await store.read { try $0.artifacts(of: customer.id) }
                            #expect(artifacts.map(\.bytes) == [Array("\(name) \(number)".utf8)])
                            await acknowledged.append(customer)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// Compares the rows, read on a direct connection, with the acknowledged customers.
        func check(on server: PostgresServer, customers: Int) async throws {
            let direct = try PostgresAddress(server.url("schema=\(schema)"))
            try await withStore(at: direct) { store in
                let entries = await acknowledged.entries
                #expect(entries.count == customers)
                for customer in entries { #expect(try await store.lookUp(customer.id) == customer) }
                let texts = try await store.database.read { session throws(StoreError) in
                    try session.rows("SELECT convert_from(bytes, 'UTF8') FROM artifacts")
                        .map { row throws(StoreError) in try row.text(0) }
                }
                #expect(texts.sorted() == (0..<customers).map { "\(name) \($0)" }.sorted())
            }
        }
    }

    @Test(arguments: [(PgBouncer.Mode.transaction, 2), (.session, 12)])
    func `two apps that share PgBouncer's connections keep their data separate`(
        mode: PgBouncer.Mode, connections: Int
    ) async throws {
        let server = try PostgresServer()
        let pooler = try PgBouncer(before: server, mode: mode, connections: connections)
        let apps = [App(name: "a"), App(name: "b")]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for app in apps {
                group.addTask {
                    let address = try PostgresAddress(pooler.url("schema=\(app.schema)&connections=4"))
                    try await withStore(at: address) { try await app.run(on: $0, customers: 200, tasks: 8) }
                }
            }
            try await group.waitForAll()
        }
        for app in apps { try await app.check(on: server, customers: 200) }
    }

    @Test func `Tenure leaves no setting and no prepared statement on connections of PgBouncer`() async throws {
        let server = try PostgresServer()
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 1)
        let address = try PostgresAddress(pooler.url("schema=\(freshSchema())"))
        try await withStore(at: address) { store in
            let customer = try await store.add("a", to: "704")
            #expect(try await store.lookUp(customer.id) == customer)
        }
        let other = try PostgresConnection(to: address, for: .transactions)
        #expect(!other.isDirect)
        let state = try other.rows(
            """
            SELECT current_setting('search_path'), current_setting('lock_timeout'), current_setting('jit'),
            current_setting('enable_seqscan'), current_setting('default_transaction_read_only'),
            (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')
            """)
        #expect(state.first?.values == ["\"$user\", public", "0", "on", "on", "off", 0, 0])
    }

    @Test func `PgBouncer in statement mode is refused, and the error contains its setting`() async throws {
        let pooler = try PgBouncer(before: try PostgresServer.shared(), mode: .statement, connections: 2)
        let address = try PostgresAddress(pooler.url("schema=\(freshSchema())"))
        let error = await #expect(throws: StoreError.self) {
            try await Store(PostgresDatabase(address, waitTimeout: waitTimeout))
        }
        #expect(error?.description.contains("pool_mode=statement") == true)
        #expect(error?.isRetryable == false)
    }

    // `ALTER DATABASE … SET` and another client's `SET` behind the same pooler have the same effect.
    @Test func `writes through PgBouncer succeed on connections that are read-only by default`() async throws {
        let server = try PostgresServer(settings: ["default_transaction_read_only": "on"])
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 2)
        try await withStore(at: try PostgresAddress(pooler.url())) { store in
            let customer = try await store.add("a", to: "704")
            #expect(try await store.lookUp(customer.id) == customer)
        }
    }
}
