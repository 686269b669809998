import Foundation
import PostgresServer
import StoreContract
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `a PostgreSQL server that can't be used` {
    private func refusal(
        of url: String, waitTimeout: Duration = waitTimeout, _ location: SourceLocation = #_sourceLocation
    ) async throws -> StoreError? {
        let address = try PostgresAddress(url)
        return await #expect(throws: StoreError.self, sourceLocation: location) {
            try await Store(PostgresDatabase(address, waitTimeout: waitTimeout))
        }
    }

    @Test func `a PostgreSQL server rejects a wrong password, and the error doesn't repeat it`() async throws {
        let server = try PostgresServer(access: ["host all guarded 127.0.0.1/32 scram-sha-256"])
        let owner = try PostgresConnection(to: try PostgresAddress(server.url()), for: .transactions)
        _ = try owner.run("CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'hunter3'")
        let url = server.url(user: "guarded:hunter2")
        let error = try await refusal(of: url)
        #expect(error?.description.contains("password authentication failed for user \"guarded\"") == true)
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.isRetryable == false)
        try await withStore(at: try PostgresAddress(server.url(user: "guarded:hunter3"))) { _ in }
    }

    @Test func `a missing PostgreSQL database is an error that contains its name`() async throws {
        let error = try await refusal(of: try PostgresServer.shared().url(database: "nowhere"))
        #expect(error?.description.contains("database \"nowhere\" does not exist") == true)
        #expect(error?.isRetryable == false)
    }

    @Test func `a PostgreSQL server is unreachable if no process listens on its port`() async throws {
        let server = try PostgresServer()
        try server.stop(.fast)
        let error = try await refusal(of: server.url(), waitTimeout: .seconds(1))
        #expect(error?.description.contains("Connection refused") == true)
        #expect(error?.description.contains("127.0.0.1:\(server.port)") == true)
        // libpq's message has two lines, and the second begins with a tab.
        #expect(error?.description.contains { $0 == "\t" || $0.isNewline } == false)
        #expect(error?.isRetryable == true)
    }

    @Test func `if no PostgreSQL server in the URL can be reached, the error has the reason for each server`()
        async throws
    {
        let url = "postgres://tenure@127.0.0.1:1,127.0.0.1:2/postgres"
        let error = try await refusal(of: url, waitTimeout: .seconds(1))
        let text = try #require(error?.description)
        for port in 1...2 { #expect(text.contains("port \(port)"), "\(text)") }
        #expect(text.contains("`postgres://127.0.0.1,127.0.0.1:1,2/postgres` can't be reached"), "\(text)")
        #expect(error?.isRetryable == true)
    }

    @Test func `a PostgreSQL server is unreachable if its host name is unknown`() async throws {
        let error = try await refusal(of: "postgres://tenure@db.invalid/postgres", waitTimeout: .seconds(1))
        guard case .unreachable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a PostgreSQL server without TLS is refused if the URL requires TLS`() async throws {
        let error = try await refusal(of: try PostgresServer.shared().url("sslmode=require"))
        #expect(error?.description.contains("does not support SSL") == true)
        #expect(error?.isRetryable == false)
    }

    @Test(.enabled(if: TestCertificate.canBeMade))
    func `a PostgreSQL server may require TLS, and its certificate is verified`() async throws {
        let folder = NSTemporaryDirectory() + "tenure-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let mine = try TestCertificate(in: folder, name: "server")
        let other = try TestCertificate(in: folder, name: "other")
        let server = try PostgresServer(
            access: ["hostnossl all all 127.0.0.1/32 reject"], certificate: (mine.chain, mine.key))
        let withoutTLS = try await refusal(of: server.url("sslmode=disable"))
        #expect(withoutTLS?.description.contains("no encryption") == true)
        #expect(withoutTLS?.isRetryable == false)
        let wrong = try await refusal(of: server.url("sslmode=verify-full&sslrootcert=\(other.chain)"))
        #expect(wrong?.description.contains("certificate verify failed") == true)
        #expect(wrong?.isRetryable == false)
        let address = try PostgresAddress(server.url("sslmode=verify-full&sslrootcert=\(mine.chain)"))
        try await withStore(at: address) { store in
            let customer = try await store.add(String(repeating: "a", count: 200_000), to: "704")
            #expect(try await store.lookUp(customer.id) == customer)
            #expect(try await store.read { try $0.artifacts(of: customer.id) }.first?.bytes.count == 200_000)
        }
    }

    @Test func `a PostgreSQL server with fsync off is refused, unless the URL allows it`() async throws {
        let server = try PostgresServer(settings: ["fsync": "off"])
        let error = try await refusal(of: server.url())
        #expect(error?.description.contains("fsync") == true)
        #expect(error?.isRetryable == false)
        try await withStore(at: try PostgresAddress(server.url("allow_fsync_off=true"))) { _ in }
    }

    @Test(arguments: [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
    func `Tenure's writes are flushed whatever synchronous_commit is, and keep remote_apply, which is stronger`(
        setting: String, expected: String
    ) async throws {
        let server = try PostgresServer(settings: ["synchronous_commit": setting])
        let address = try PostgresAddress(server.url())
        let connection = try PostgresConnection(to: address, for: .transactions)
        let level = try connection.transact(.writing(AdvisoryKeys([], schema: address.schema))) {
            () throws(PostgresFailure) in try connection.rows("SELECT current_setting('synchronous_commit')")
        }
        #expect(level.first?.values == [.text(expected)])
    }

    @Test func `the error about a PostgreSQL server that accepts no writes names this cause`() async throws {
        let server = try PostgresServer(settings: ["wal_level": "replica"])
        try server.becomeStandby()
        let error = try await refusal(of: server.url(), waitTimeout: .seconds(1))
        #expect(error?.description.contains("accepts no writes") == true)
    }

    @Test func `PostgreSQL's codes for a full disk and a damaged page become the errors full and damaged`() {
        let failure = PostgresFailure(state: "53100", message: "could not extend file", database: "db")
        #expect(failure.error == .full)
        #expect(failure.error.isRetryable)
        guard case .damaged = PostgresFailure(state: "XX001", message: "invalid page", database: "db").error else {
            Issue.record("not damaged")
            return
        }
    }
}
