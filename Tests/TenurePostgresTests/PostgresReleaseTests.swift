import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

/// Processes of two releases that use one database, directly and through a pooler.
@Suite struct `a rolling upgrade on PostgreSQL` {
    /// Whether processes use PostgreSQL directly or through PgBouncer.
    enum Path: String, CaseIterable, Sendable {
        case direct, pooled
    }

    /// A migration that only these tests have.
    private static func step(oldestWriter: Int?, oldestReader: Int?) -> Migration {
        Migration(
            "\(Migration.all.count + 1) test", version: Migration.all.count + 1, oldestWriter: oldestWriter,
            oldestReader: oldestReader,
            [.shared("CREATE TABLE added (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")])
    }

    private static func withAddresses(
        _ path: Path, _ body: (PostgresAddress, PostgresAddress) async throws -> Void
    ) async throws {
        let server = try PostgresServer.shared()
        let schema = freshSchema()
        let direct = try PostgresAddress(server.url("schema=\(schema)"))
        guard path == .pooled else { return try await body(direct, direct) }
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 4)
        try await body(try PostgresAddress(pooler.url("schema=\(schema)&connections=4")), direct)
        withExtendedLifetime(pooler) {}
    }

    private static func open(_ address: PostgresAddress, adding step: Migration?) async throws -> Store {
        let opening = DatabaseOpening(
            bundleID: "com.example.calculator", migrations: Migration.all + (step.map { [$0] } ?? []))
        return try await Store(PostgresDatabase(address, opening, waitTimeout: waitTimeout))
    }

    @Test(arguments: Path.allCases)
    func `during a rolling upgrade on PostgreSQL, old processes can write if the migration permits it`(path: Path)
        async throws
    {
        try await Self.withAddresses(path) { address, direct in
            let step = Self.step(oldestWriter: 1, oldestReader: nil)
            let old = try await Self.open(address, adding: nil)
            _ = try await old.add("a", to: "704")
            let new = try await Self.open(address, adding: step)
            let both = try await withThrowingTaskGroup(of: Customer.self) { group in
                for number in 0..<40 {
                    let store = number.isMultiple(of: 2) ? old : new
                    group.addTask { try await store.add("\(number)", to: "\(number / 2)") }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1.id) }
            }
            #expect(both.count == 20)
            // A process of the old release can restart during the migration.
            let restarted = try await Self.open(direct, adding: nil)
            _ = try await restarted.add("b", to: "705")
            for store in [old, new, restarted] { try await store.close() }
        }
    }

    @Test(arguments: Path.allCases, [1, nil])
    func `after a PostgreSQL migration that forbids old writers, old processes read only if it permits old readers`(
        path: Path, oldestReader: Int?
    ) async throws {
        try await Self.withAddresses(path) { address, direct in
            let step = Self.step(oldestWriter: nil, oldestReader: oldestReader)
            let old = try await Self.open(address, adding: nil)
            let customer = try await old.add("a", to: "704")
            let new = try await Self.open(address, adding: step)
            for _ in 0..<20 {
                await #expect(throws: StoreError.newerDatabase(path: address.fullName)) {
                    try await old.add("b", to: "705")
                }
            }
            if oldestReader == nil {
                await #expect(throws: StoreError.newerDatabase(path: address.fullName)) {
                    try await old.lookUp(customer.id)
                }
                await #expect(throws: StoreError.newerDatabase(path: address.fullName)) {
                    try await old.read { try $0.publication() }
                }
            } else {
                #expect(try await old.lookUp(customer.id) == customer)
                #expect(try await old.read { try $0.publication() } == nil)
            }
            await #expect(throws: StoreError.newerDatabase(path: direct.fullName)) {
                try await Self.open(direct, adding: nil)
            }
            #expect(try await new.add("c", to: "706").id > customer.id)
            try await old.close()
            try await new.close()
        }
    }

    @Test(arguments: Path.allCases)
    func `a PostgreSQL migration waits for earlier writes of old processes, and makes later writes fail`(path: Path)
        async throws
    {
        try await Self.withAddresses(path) { address, direct in
            let step = Self.step(oldestWriter: nil, oldestReader: 1)
            let old = try await Self.open(address, adding: nil)
            let (begins, goesOn) = (Signal(), Signal())
            // This transaction checked the schema before the migration, so it must end before the migration changes it.
            async let first = old.write { transaction in
                begins.fire()
                goesOn.wait()
                try transaction.session.execute("INSERT INTO progress (name, value) VALUES ('first', '')")
            }
            while !begins.hasHappened { try await Task.sleep(for: .milliseconds(5)) }
            async let new = Self.open(direct, adding: step)
            // When the migration waits for the lock, later transactions wait behind it.
            let admin = try PostgresConnection(to: direct, for: .transactions)
            let lock = AdvisoryKeys.number("migrations", direct.schema, "")
            let waiting = """
                SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                AND (classid::bigint << 32 | objid::bigint) = \(lock)
                """
            var isWaiting = false
            for _ in 0..<4000 {
                isWaiting = try !admin.rows(waiting).isEmpty
                if isWaiting { break }
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(isWaiting, "the migration doesn't wait for the open transaction")
            let second = Task {
                try await old.write { transaction in
                    try transaction.session.execute("INSERT INTO progress (name, value) VALUES ('second', '')")
                }
            }
            try await Task.sleep(for: .milliseconds(50))
            goesOn.fire()
            _ = try await first
            let migrated = try await new
            await #expect(throws: StoreError.newerDatabase(path: address.fullName)) { try await second.value }
            let names = try await migrated.database.read { session throws(StoreError) in
                try session.rows("SELECT name FROM progress").map { row throws(StoreError) in try row.text(0) }
            }
            #expect(names == ["first"])
            try await old.close()
            try await migrated.close()
        }
    }

    @Test func `a process can start and write on PostgreSQL while another process has an open transaction`()
        async throws
    {
        let address = try freshAddress()
        let running = try await Self.open(address, adding: nil)
        let (begins, goesOn) = (Signal(), Signal())
        async let long = running.write { _ in
            begins.fire()
            goesOn.wait()
        }
        while !begins.hasHappened { try await Task.sleep(for: .milliseconds(5)) }
        let second = try await Self.open(address, adding: nil)
        _ = try await second.add("a", to: "704")
        goesOn.fire()
        _ = try await long
        try await second.close()
        try await running.close()
    }

    @Test func `a command refuses an older PostgreSQL database; only the service migrates it`() async throws {
        let address = try freshAddress()
        let command = DatabaseOpening.existing(of: nil)
        await #expect(throws: StoreError.self) { try await Store(PostgresDatabase(address, command)) }
        let connection = try PostgresConnection(to: address, for: .transactions)
        let schemas = try connection.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(address.schema)])
        #expect(schemas.isEmpty, "the command created a schema")
        try await Self.open(address, adding: nil).close()
        var later = command
        later.migrations.append(Self.step(oldestWriter: 1, oldestReader: nil))
        let error = await #expect(throws: StoreError.self) { try await Store(PostgresDatabase(address, later)) }
        #expect(error == .olderDatabase(database: address.fullName))
        #expect(error?.description.contains("tenure serve") == true)
    }

    @Test func `a moved PostgreSQL database accepts no writes and no service until the move is undone`() async throws {
        let address = try freshAddress()
        let store = try await Self.open(address, adding: nil)
        let customer = try await store.add("a", to: "704")
        try await store.database.writeAlone { session throws(StoreError) in
            try DatabaseHeader.markMoved(to: "elsewhere", in: session)
        }
        let moved = StoreError.moved(database: address.fullName, to: "elsewhere")
        await #expect(throws: moved) { try await store.add("b", to: "705") }
        #expect(try await store.lookUp(customer.id) == customer)
        await #expect(throws: moved) { try await Self.open(address, adding: nil) }
        try await Store(PostgresDatabase(address, .existing(of: nil))).close()
        // This statement is the documented way to use the source again.
        try PostgresConnection(to: address, for: .transactions)
            .run("UPDATE \(address.schema).database_state SET moved_to = NULL")
        _ = try await store.add("b", to: "705")
        try await store.close()
    }
}
