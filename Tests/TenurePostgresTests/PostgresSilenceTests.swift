import Foundation
import PostgresServer
import StoreContract
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `a PostgreSQL server that doesn't answer` {
    /// Repeats an operation while its error allows that. Returns the total time.
    @discardableResult
    private func untilDone(_ body: () async throws -> Void) async throws -> Duration {
        let began = ContinuousClock.now
        while true {
            do {
                try await body()
                return .now - began
            } catch let error as StoreError where error.isRetryable {
                try #require(.now - began < .seconds(60), "\(error)")
            }
        }
    }

    /// Expects an error within 9 seconds, with some tolerance for a machine that is busy with other tests.
    private func expectFailure(
        _ what: Comment, within limit: Duration = .seconds(20), _ body: () async throws -> Void
    ) async {
        let began = ContinuousClock.now
        let error = await #expect(throws: StoreError.self, what) { try await body() }
        #expect(error?.isRetryable == true, what)
        #expect(.now - began < limit, what)
    }

    @Test func `a service uses the second PostgreSQL server in its URL if the first server doesn't answer`()
        async throws
    {
        let silent = try SilentPort()
        let server = try PostgresServer.shared()
        let hosts = "127.0.0.1:\(silent.port),127.0.0.1:\(server.port)"
        let address = try PostgresAddress("postgres://tenure@\(hosts)/postgres?schema=\(freshSchema())")
        let began = ContinuousClock.now
        let store = try await Store(PostgresDatabase(address, waitTimeout: .seconds(20)))
        _ = try await store.add("a", to: "1")
        #expect(.now - began < .seconds(20))
        try await store.close()
    }

    @Test func `if the only PostgreSQL server in the URL doesn't answer, the start fails within seconds`() async throws
    {
        let silent = try SilentPort()
        let address = try PostgresAddress("postgres://tenure@127.0.0.1:\(silent.port)/postgres")
        await expectFailure("start") { _ = try await PostgresDatabase(address) }
    }

    @Test(arguments: [false, true], [false, true])
    func `operations on a frozen PostgreSQL server fail, and succeed after it wakes up`(usesTLS: Bool, sends: Bool)
        async throws
    {
        guard !usesTLS || TestCertificate.canBeMade else { return }
        let folder = NSTemporaryDirectory() + "tenure-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let certificate = usesTLS ? try TestCertificate(in: folder, name: "server") : nil
        let server = try PostgresServer(certificate: certificate.map { ($0.chain, $0.key) })
        let address = try PostgresAddress(server.url(usesTLS ? "sslmode=require" : "sslmode=disable"))
        let store = try await Store(PostgresDatabase(address))
        let customer = try await store.add("a", to: "1")
        #expect(try await store.lookUp(customer.id) == customer)
        try server.freeze()
        // This text is larger than the buffers of a socket, so it can't be sent completely.
        let text = sends ? String(repeating: "a", count: 20_000_000) : "b"
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await expectFailure("write") { _ = try await store.add(text, to: "2") } }
            group.addTask { await expectFailure("lookup") { _ = try await store.lookUp(customer.id) } }
            group.addTask { await expectFailure("read") { try await store.read { try $0.check() } } }
        }
        try server.thaw()
        try await untilDone { _ = try await store.add("c", to: "3") }
        try await untilDone {
            let found = try await store.lookUp(customer.id)
            #expect(found == customer)
        }
        try await store.close()
    }

    @Test(arguments: [false, true])
    func `writes go to a promoted PostgreSQL standby, even after the frozen primary wakes up`(usesTLS: Bool)
        async throws
    {
        guard !usesTLS || TestCertificate.canBeMade else { return }
        let folder = NSTemporaryDirectory() + "tenure-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let certificate = usesTLS ? try TestCertificate(in: folder, name: "server") : nil
        let old = try PostgresServer(
            settings: PostgresServer.primarySettings, access: PostgresServer.standbyAccess,
            certificate: certificate.map { ($0.chain, $0.key) })
        let new = try old.standby()
        let hosts = "127.0.0.1:\(old.port),127.0.0.1:\(new.port)"
        let address = try PostgresAddress(
            "postgres://tenure@\(hosts)/postgres?sslmode=\(usesTLS ? "require" : "disable")")
        let (store, idle) = (
            try await Store(PostgresDatabase(address)), try await Store(PostgresDatabase(address))
        )
        for store in [store, idle] { _ = try await store.add("a", to: "1") }
        try old.freeze()
        await expectFailure("frozen") { _ = try await store.add("b", to: "2") }
        try new.promote()
        let outage = try await untilDone { _ = try await store.add("c", to: "3") }
        #expect(outage < .seconds(30))

        try old.thaw()
        let direct = try PostgresConnection(to: try PostgresAddress(old.url()), for: .transactions)
        // A process that was idle during the failover must use the new primary, too.
        try await Task.sleep(for: .seconds(6))
        let before = try direct.rows("SELECT count(*) FROM tenure.artifacts")
        for number in 0..<20 {
            for (name, store) in [("store", store), ("idle", idle)] {
                try await untilDone { _ = try await store.add("\(name) \(number)", to: "\(name) \(number)") }
            }
        }
        #expect(try direct.rows("SELECT count(*) FROM tenure.artifacts") == before)
        for store in [store, idle] { try await store.close() }
        // A new process that reaches both servers uses the new primary.
        let later = try await Store(PostgresDatabase(address))
        _ = try await later.add("d", to: "4")
        #expect(try direct.rows("SELECT count(*) FROM tenure.artifacts") == before)
        try await later.close()
    }

    @Test func `a PostgreSQL write fails if the synchronous standby doesn't confirm it`() async throws {
        let server = try PostgresServer(
            settings: PostgresServer.primarySettings, access: PostgresServer.standbyAccess)
        let address = try PostgresAddress(server.url())
        let store = try await Store(PostgresDatabase(address))
        _ = try await store.add("a", to: "1")
        let owner = try PostgresConnection(to: address, for: .transactions)
        try owner.run("ALTER SYSTEM SET synchronous_standby_names = 'none'")
        try owner.run("SELECT pg_reload_conf()")
        // Connections notice the setting within moments.
        while try owner.rows("SHOW synchronous_standby_names").first?.values != ["none"] {
            try await Task.sleep(for: .milliseconds(20))
        }
        await expectFailure("write") { _ = try await store.add("b", to: "2") }
        // No statement keeps waiting on the server, where it would occupy a connection.
        let waiting = try owner.rows("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        #expect(waiting == [SQLRow([0])])
        try await store.close()
        // The rows of the first attempt have no standby yet. The next process must not read them as committed.
        let next = try await Store(PostgresDatabase(address))
        await expectFailure("repeated") { try await next.write { try $0.check() } }
        let customers = try await next.read { try $0.customers(after: 0, limit: 10) }
        #expect(customers.count == 2)
        try owner.run("ALTER SYSTEM RESET synchronous_standby_names")
        try owner.run("SELECT pg_reload_conf()")
        try await untilDone { _ = try await next.add("b", to: "2") }
        try await next.close()
    }
}
