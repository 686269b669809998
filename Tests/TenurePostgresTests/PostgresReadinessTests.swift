import CommandRunner
import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `the readiness of a PostgreSQL database` {
    @Test func `a PostgreSQL database that accepts writes is ready, and the check leaves no rows`() async throws {
        try await withStore { store in
            #expect(await store.writeFailure() == nil)
            let marks = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT name FROM progress")
            }
            #expect(marks.isEmpty)
        }
    }

    @Test func `the readiness of PostgreSQL is checked once a second, however many requests ask for it`() async throws {
        let server = try PostgresServer()
        try await withStore(at: try PostgresAddress(server.url())) { store in
            let commits = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"
            let other = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
            _ = try other.rows("SELECT pg_stat_force_next_flush()")
            let before = try other.rows(commits).first?.integer(0) ?? 0
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<500 { group.addTask { #expect(await store.writeFailure() == nil) } }
            }
            try await Task.sleep(for: .milliseconds(1200))
            let after = try other.rows(commits).first?.integer(0) ?? 0
            #expect(after - before < 100)
        }
    }

    @Test func `a PostgreSQL server that became a standby isn't ready until it is promoted`() async throws {
        let server = try PostgresServer(settings: ["wal_level": "replica"])
        let store = try await Store(PostgresDatabase(try PostgresAddress(server.url())))
        _ = try await store.add("a", to: "1")
        try server.becomeStandby()
        let error = await #expect(throws: StoreError.self) { try await store.add("b", to: "2") }
        guard case .readOnly? = error, case .readOnly? = await store.writeFailure() else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isRetryable == true)
        try server.promote()
        while true {
            do {
                _ = try await store.add("b", to: "2")
                break
            } catch let error as StoreError where error.isRetryable {}
        }
        try await store.close()
    }

    @Test(arguments: [
        "INSERT ON TABLE artifacts", "UPDATE ON TABLE customers", "INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA $",
    ])
    func `a PostgreSQL database isn't ready if its role lacks a permission that a sync needs`(rights: String)
        async throws
    {
        let server = try PostgresServer.shared()
        let (role, schema) = (freshSchema(), freshSchema())
        let owner = try PostgresConnection(to: try PostgresAddress(server.url("schema=\(schema)")), for: .transactions)
        _ = try await Store(PostgresDatabase(owner.address, waitTimeout: waitTimeout)).close()
        try owner.run("CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role)")
        try owner.run(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role);"
                + "GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)")
        let address = try PostgresAddress(server.url(user: role, "schema=\(schema)"))
        try await withStore(at: address) { store in
            _ = try await store.add("a", to: "1")
            #expect(await store.writeFailure() == nil)
            let revoked = rights.replacing("$", with: schema).replacing("TABLE ", with: "TABLE \(schema).")
            try owner.run("REVOKE \(revoked) FROM \(role)")
            try await Task.sleep(for: .milliseconds(1100))
            guard case .readOnly(_, let detail)? = await store.writeFailure() else {
                Issue.record("ready")
                return
            }
            #expect(detail.contains("permission denied for table"))
        }
    }

    @Test func `a PostgreSQL database stays ready during a short table lock, but not during a long table lock`()
        async throws
    {
        try await withStore { store in
            #expect(await store.writeFailure() == nil)
            let other = try PostgresConnection(to: try freshAddress(), for: .transactions)
            guard let database = store.database as? PostgresDatabase else { return }
            try other.run("BEGIN; LOCK TABLE \"\(database.address.schema)\".customers IN EXCLUSIVE MODE")
            let began = ContinuousClock.now
            var ready: [Duration] = []
            while await store.writeFailure() == nil {
                ready.append(.now - began)
                try #require(.now - began < .seconds(30))
                try await Task.sleep(for: .milliseconds(200))
            }
            #expect(!ready.isEmpty)
            #expect(.now - began > .seconds(9))
            let error = await #expect(throws: StoreError.self) { try await store.add("a", to: "1") }
            #expect(error == .busy)
            try other.run("ROLLBACK")
            try await Task.sleep(for: .milliseconds(1100))
            #expect(await store.writeFailure() == nil)
        }
    }

    @Test(.enabled(if: SmallDisk.isAllowed))
    func `a PostgreSQL database isn't ready after a write failed because its disk is full`() async throws {
        let disk = try SmallDisk(size: "96m", mode: "755")
        let server = try PostgresServer(settings: ["max_wal_size": "32MB", "min_wal_size": "32MB"], in: disk.path)
        let store = try await Store(PostgresDatabase(try PostgresAddress(server.url())))
        _ = try await store.add("a", to: "1")
        var number = 1
        var failure: StoreError?
        while failure == nil {
            number += 1
            do throws(StoreError) {
                try await store.fill(number)
            } catch {
                failure = error
            }
            try #require(number < 2000)
        }
        #expect(failure?.isRetryable == true, "\(String(describing: failure))")
        #expect(await store.writeFailure() != nil)
        try? await store.close()
    }
}

extension Store {
    /// Adds a customer with a large artifact that can't be compressed.
    fileprivate func fill(_ number: Int) async throws(StoreError) {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<60_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        _ = try await update([Identity(.appTransactionID, "\(number)")], in: Realm(.production), at: .now) { known in
            var update = CustomerUpdate(of: known)
            update.add([Artifact(.receipt, bytes: bytes, sha256: Array("\(number)".utf8), signedDate: nil)])
            return (update, ())
        }
    }
}
