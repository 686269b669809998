import Foundation
import PostgresServer
import StoreContract
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `connections of several apps to one PostgreSQL server` {
    /// The number of apps, which is larger in `make soak`.
    private static let apps = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 6 : 30

    /// Returns the number of the server's connections, without the observer's connection.
    private func count(_ observer: PostgresConnection) throws -> Int {
        let rows = try observer.rows(
            """
            SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
            """)
        return Int(try rows.first?.integer(0) ?? 0)
    }

    /// Runs operations on all stores at once, and returns the highest number of connections meanwhile.
    private func load(_ stores: [Store], _ observer: PostgresConnection) async throws -> Int {
        let isOver = Signal()
        async let operations: Void = withThrowingTaskGroup(of: Void.self) { group in
            for (app, store) in stores.enumerated() {
                for task in 0..<4 {
                    group.addTask {
                        for number in 0..<10 {
                            let id = "\(task) \(number)"
                            let customer = try await store.add("\(app) \(id)", to: id)
                            #expect(try await store.lookUp(customer.id) == customer)
                        }
                    }
                }
            }
            defer { isOver.fire() }
            try await group.waitForAll()
        }
        var most = 0
        while !isOver.hasHappened {
            most = max(most, try count(observer))
            try await Task.sleep(for: .milliseconds(5))
        }
        try await operations
        return most
    }

    private func expectOwnRows(_ stores: [Store]) async throws {
        for (app, store) in stores.enumerated() {
            let texts = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT convert_from(bytes, 'UTF8') FROM artifacts").map { row throws(StoreError) in
                    try row.text(0)
                }
            }
            let expected = (0..<4).flatMap { task in (0..<10).map { "\(app) \(task) \($0)" } }
            #expect(texts.sorted() == expected.sorted())
        }
    }

    @Test func `the connections that a PostgreSQL server must allow include those for look-ups`() async throws {
        let (one, other) = (try freshAddress("connections=5"), try freshAddress("connections=7"))
        let reports = await PostgresBudget.reports(for: [one, other, one])
        // Seven for operations, and two for look-ups: both apps have a schema in one database.
        #expect(reports.map(\.neededConnections) == [9])
        let report = try #require(reports.first)
        #expect(try report.allowedConnections.get() > 9)
    }

    @Test func `a PostgreSQL server needs one more connection for look-ups than it has databases, at most eight`()
        async throws
    {
        let server = try PostgresServer(settings: [
            "max_connections": "50", "superuser_reserved_connections": "7",
        ])
        for (databases, lookups) in [(1, 2), (2, 3), (7, 8), (8, 8)] {
            let addresses = try (1...databases).map { number in
                // The last database has two apps.
                try PostgresAddress(
                    server.url(database: number == 1 ? "postgres" : "shop\(number)", "connections=\(number)"))
            }
            let reports = await PostgresBudget.reports(for: addresses + addresses.suffix(1))
            #expect(reports.map(\.neededConnections) == [databases + lookups])
            // Only administrators may use the last seven connections.
            #expect(try reports.first?.allowedConnections.get() == 43)
        }
    }

    @Test func `apps with schemas in one PostgreSQL database share a limited number of connections`() async throws {
        let server = try PostgresServer(settings: ["max_connections": "100"])
        let observer = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        var stores: [Store] = []
        for app in 0..<Self.apps {
            let address = try PostgresAddress(server.url("schema=app\(app)&connections=5"))
            stores.append(try await Store(PostgresDatabase(address, waitTimeout: waitTimeout)))
        }
        #expect(try await load(stores, observer) <= 5 + 2)
        try await expectOwnRows(stores)
        for store in stores { try await store.close() }
        while try count(observer) > 0 { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test func `apps with separate PostgreSQL databases and roles share a limited number of connections`() async throws
    {
        let server = try PostgresServer(settings: ["max_connections": "100"])
        let observer = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        var stores: [Store] = []
        for app in 0..<Self.apps {
            try observer.run("CREATE ROLE role\(app) LOGIN")
            try observer.run("CREATE DATABASE app\(app) OWNER role\(app)")
            let address = try PostgresAddress(server.url(user: "role\(app)", database: "app\(app)", "connections=5"))
            stores.append(try await Store(PostgresDatabase(address, waitTimeout: waitTimeout)))
        }
        let most = try await load(stores, observer)
        // A server process ends a moment after its client has switched to another database.
        #expect(most <= 5 + 8 + 5, "\(most)")
        try await expectOwnRows(stores)
        for store in stores { try await store.close() }
        while try count(observer) > 0 { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test func `idle connections of several apps to one PostgreSQL server close after the idle timeout`() async throws {
        let server = try PostgresServer()
        let observer = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        try observer.run("CREATE DATABASE other")
        let workers = PostgresWorkers(for: .transactions, limit: 4, idleTimeout: .milliseconds(300))
        let pools = try [server.url(), server.url(database: "other")].map { url -> PostgresPool in
            let address = try PostgresAddress(url)
            return PostgresPool(on: workers, to: PostgresCluster(address), for: address, waitTimeout: waitTimeout)
        }
        for _ in 0..<2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for pool in pools {
                    for _ in 0..<2 {
                        group.addTask {
                            _ = try await pool.run { connection throws(PostgresFailure) in
                                try connection.rows("SELECT pg_sleep(0.1)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let began = ContinuousClock.now
            while try count(observer) > 0 {
                try #require(.now - began < .seconds(30))
                try await Task.sleep(for: .milliseconds(20))
            }
            for pool in pools { #expect(pool.usage.open == 0) }
        }
        for pool in pools { await pool.close() }
    }

    @Test func `a PostgreSQL connection pool counts its open connections and its waiting operations`()
        async throws
    {
        let server = try PostgresServer()
        let address = try PostgresAddress(server.url("connections=1"))
        let store = try await Store(PostgresDatabase(address, waitTimeout: waitTimeout))
        let (begun, end) = (Signal(), Signal())
        async let first: Void = store.read { _ in
            begun.fire()
            end.wait()
        }
        while !begun.hasHappened { try await Task.sleep(for: .milliseconds(5)) }
        async let second: Void = store.read { try $0.check() }
        func transactions() throws -> ConnectionPoolUsage {
            try #require(store.database.connectionPools.first { $0.purpose == .transactions })
        }
        while try transactions().waiting == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let pool = try transactions()
        #expect((pool.open, pool.limit, pool.waiting) == (1, 1, 1))
        end.fire()
        _ = try await (first, second)
        #expect(try transactions().waiting == 0)
        let lookups = try #require(store.database.connectionPools.first { $0.purpose == .lookups })
        #expect((lookups.limit, lookups.waiting) == (2, 0))
        try await store.close()
    }

    @Test func `an app with few PostgreSQL operations doesn't wait behind all operations of a busy app`() async throws {
        let address = try freshAddress()
        let cluster = PostgresCluster(address)
        let workers = PostgresWorkers(for: .transactions, limit: 2)
        let (busy, other) = (
            PostgresPool(on: workers, to: cluster, for: address, waitTimeout: waitTimeout),
            PostgresPool(on: workers, to: cluster, for: address, waitTimeout: waitTimeout)
        )
        let (end, order) = (Signal(), Order())
        for _ in 0..<2 { busy.submit(run: { _ throws(PostgresFailure) in end.wait() }, fail: { _ in }) }
        for (pool, name, count) in [(busy, "busy", 40), (other, "other", 4)] {
            for _ in 0..<count {
                pool.submit(
                    run: { _ throws(PostgresFailure) in order.append(name) }, fail: { _ in order.append("failed") })
            }
        }
        end.fire()
        await busy.close()
        await other.close()
        let entries = order.entries
        #expect(entries.count == 44 && !entries.contains("failed"))
        let last = try #require(entries.lastIndex(of: "other"))
        #expect(last < 20, "\(entries)")
    }

    @Test(.enabled(if: TestCertificate.canBeMade))
    func `after failed connections to a PostgreSQL server, only one new connection is tried at a time`() async throws {
        let folder = NSTemporaryDirectory() + "tenure-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let certificate = try TestCertificate(in: folder, name: "server")
        let server = try PostgresServer(certificate: (certificate.chain, certificate.key))
        let cutter = try HandshakeCutter(before: server)
        let address = try PostgresAddress("postgres://tenure@127.0.0.1:\(cutter.port)/postgres?sslmode=require")
        let workers = PostgresWorkers(for: .transactions, limit: 16)
        let pool = PostgresPool(on: workers, to: PostgresCluster(address), for: address, waitTimeout: .seconds(2))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let error = await #expect(throws: StoreError.self) {
                        try await pool.run { _ throws(PostgresFailure) in }
                    }
                    #expect(error?.isRetryable == true)
                }
            }
        }
        // The first attempts begin before any of them has failed.
        #expect(cutter.cuts <= 16 + 8, "\(cutter.cuts)")
        cutter.letPass()
        while (try? await pool.run { _ throws(PostgresFailure) in }) == nil {}
        await pool.close()
    }
}

/// Events in their order, recorded by threads that may block.
private final class Order: @unchecked Sendable {
    // `@unchecked Sendable` is correct: `list` is used only while the lock is held.
    private let lock = NSLock()
    private var list: [String] = []

    func append(_ entry: String) {
        lock.lock()
        list.append(entry)
        lock.unlock()
    }

    var entries: [String] {
        lock.lock()
        defer { lock.unlock() }
        return list
    }
}
