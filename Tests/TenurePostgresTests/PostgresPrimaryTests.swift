import Foundation
import PostgresServer
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

/// What a process knows of its primary server after a restart.
@Suite struct `the primary server after a restart` {
    /// A memory as a file would be.
    private final class Note: Sendable {
        let known = Locked<KnownPrimary?>(nil)

        var memory: PrimaryMemory {
            PrimaryMemory("primary.json") { [self] in
                known.withLock { $0 }
            } write: { [self] primary in
                known.withLock { $0 = primary }
            }
        }
    }

    private func server() throws -> PostgresServer {
        try PostgresServer(settings: PostgresServer.primarySettings, access: PostgresServer.standbyAccess)
    }

    @Test func `is never an old one that woke up, until the memory is removed`() async throws {
        let (old, note) = (try server(), Note())
        let new = try old.standby()
        let address = try PostgresAddress(
            "postgres://tenure@127.0.0.1:\(old.port),127.0.0.1:\(new.port)/postgres?sslmode=disable")
        let store = try await Store(PostgresDatabase(address, memory: note.memory))
        _ = try await store.add("a", to: "1")
        #expect(note.known.withLock { $0?.timeline } == 1)
        try old.stop(.immediate)
        try new.promote()
        while (try? await store.add("b", to: "2")) == nil {}
        try await store.close()
        let known = try #require(note.known.withLock { $0 })
        #expect(known.timeline == 2)

        // The new primary is down when the next process starts.
        try new.stop(.immediate)
        try old.start()
        for url in [address, try PostgresAddress(old.url())] {
            let error = await #expect(throws: StoreError.self) { try await PostgresDatabase(url, memory: note.memory) }
            let text = "\(String(describing: error))"
            #expect(text.contains("has timeline 1, and 2 was promoted since; stop the old primary"), "\(text)")
            // The cluster of the first URL is still in memory, which has the same timeline.
            if url.hosts.count == 1 { #expect(text.contains("remove `primary.json`"), "\(text)") }
            #expect(error?.isRetryable == true)
        }
        #expect(note.known.withLock { $0 } == known)
        let direct = try PostgresConnection(to: try PostgresAddress(old.url()), for: .transactions)
        #expect(try direct.rows("SELECT count(*) FROM tenure.artifacts") == [SQLRow([1])])

        try new.start()
        let both = try await Store(PostgresDatabase(address, memory: note.memory))
        _ = try await both.add("c", to: "3")
        try await both.close()
        #expect(try direct.rows("SELECT count(*) FROM tenure.artifacts") == [SQLRow([1])])

        // An operator who means it.
        note.known.withLock { $0 = nil }
        let back = try await Store(PostgresDatabase(try PostgresAddress(old.url()), memory: note.memory))
        _ = try await back.add("d", to: "4")
        try await back.close()
        #expect(note.known.withLock { $0 } == KnownPrimary(system: known.system, timeline: 1))
    }
}
