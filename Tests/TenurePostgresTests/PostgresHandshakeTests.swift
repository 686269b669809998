import Foundation
import PostgresServer
import TenureStore
import Testing

@testable import TenurePostgres

@Suite(.enabled(if: TestCertificate.canBeMade)) struct `the TLS handshake with PostgreSQL` {
    private let folder = NSTemporaryDirectory() + "tenure-tls-" + UUID().uuidString
    private let server: PostgresServer
    private let mine: TestCertificate

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        mine = try TestCertificate(in: folder, name: "server")
        server = try PostgresServer(certificate: (mine.chain, mine.key))
    }

    @Test func `a broken TLS handshake with PostgreSQL is repeated until it succeeds or the timeout ends`()
        async throws
    {
        let cutter = try HandshakeCutter(before: server)
        let address = try PostgresAddress(
            "postgres://tenure@127.0.0.1:\(cutter.port)/postgres?sslmode=verify-full&sslrootcert=\(mine.chain)")
        let error = await #expect(throws: StoreError.self) {
            try await PostgresDatabase(address, waitTimeout: .seconds(2))
        }
        guard case .unreachable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cutter.cuts > 1)
        // A service that waits for its database starts as soon as the network works.
        async let store = Store(PostgresDatabase(address, waitTimeout: waitTimeout))
        try await Task.sleep(for: .milliseconds(300))
        cutter.letPass()
        _ = try await store.add("a", to: "1")
        try await store.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a TLS handshake fails at once if PostgreSQL's certificate isn't trusted`() async throws {
        let other = try TestCertificate(in: folder, name: "other")
        let address = try PostgresAddress(server.url("sslmode=verify-full&sslrootcert=\(other.chain)"))
        // A handshake that is tried again takes longer than the test may.
        let error = await #expect(throws: StoreError.self) {
            try await PostgresDatabase(address, waitTimeout: .seconds(600))
        }
        #expect(error?.description.contains("certificate verify failed") == true)
        #expect(error?.isRetryable == false)
        try FileManager.default.removeItem(atPath: folder)
    }
}
