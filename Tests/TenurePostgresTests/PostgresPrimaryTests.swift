import Foundation
import PostgresServer
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

/// Which primary server a process remembers after a restart.
@Suite struct `the primary server after a restart` {
    /// A storage in memory instead of a file. Reading it fails if it is damaged.
    private final class Note: Sendable {
        let known = Locked<KnownPrimary?>(nil)
        let isDamaged = Locked(false)

        var storage: PrimaryStorage { named("primary.json") }

        func named(_ name: String) -> PrimaryStorage {
            PrimaryStorage(name) { [self] in
                if isDamaged.withLock({ $0 }) { throw CancellationError() }
                return known.withLock { $0 }
            } write: { [self] primary in
                known.withLock { $0 = primary }
            }
        }
    }

    private func server() throws -> PostgresServer {
        try PostgresServer(settings: PostgresServer.primarySettings, access: PostgresServer.standbyAccess)
    }

    @Test func `after a restart, an old PostgreSQL primary is used again only if primary.json was removed`()
        async throws
    {
        let (old, note) = (try server(), Note())
        let new = try old.standby()
        let address = try PostgresAddress(
            "postgres://tenure@127.0.0.1:\(old.port),127.0.0.1:\(new.port)/postgres?sslmode=disable")
        let store = try await Store(PostgresDatabase(address, storage: note.storage))
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
            let error = await #expect(throws: StoreError.self) {
                try await PostgresDatabase(url, storage: note.storage)
            }
            let text = "\(String(describing: error))"
            #expect(
                text.contains("has timeline 1, but a server with timeline 2 was promoted since; stop the old primary"),
                "\(text)")
            #expect(text.contains("remove `primary.json`"), "\(text)")
            #expect(error?.isRetryable == true)
        }
        #expect(note.known.withLock { $0 } == known)
        let direct = try PostgresConnection(to: try PostgresAddress(old.url()), for: .transactions)
        #expect(try direct.rows("SELECT count(*) FROM tenure.artifacts") == [SQLRow([1])])

        try new.start()
        let both = try await Store(PostgresDatabase(address, storage: note.storage))
        _ = try await both.add("c", to: "3")
        try await both.close()
        #expect(try direct.rows("SELECT count(*) FROM tenure.artifacts") == [SQLRow([1])])

        // The operator removed the file on purpose.
        note.known.withLock { $0 = nil }
        let back = try await Store(PostgresDatabase(try PostgresAddress(old.url()), storage: note.storage))
        _ = try await back.add("d", to: "4")
        try await back.close()
        #expect(note.known.withLock { $0 } == KnownPrimary(system: known.system, timeline: 1))
    }

    @Test func `after a restart, a service accepts a new PostgreSQL server that isn't a copy of the old primary`()
        async throws
    {
        let note = Note()
        note.known.withLock { $0 = KnownPrimary(system: "1", timeline: 7) }
        let server = try server()
        let store = try await Store(PostgresDatabase(try PostgresAddress(server.url()), storage: note.storage))
        _ = try await store.add("a", to: "1")
        try await store.close()
        let known = try #require(note.known.withLock { $0 })
        #expect(known.timeline == 1 && known.system.count > 10 && known.system.allSatisfy(\.isNumber))
    }

    @Test func `two apps on one PostgreSQL server store the same primary`() async throws {
        let (server, first, second) = (try server(), Note(), Note())
        let stores = [
            try await Store(PostgresDatabase(try PostgresAddress(server.url("schema=a")), storage: first.named("a"))),
            try await Store(PostgresDatabase(try PostgresAddress(server.url("schema=b")), storage: second.named("b"))),
        ]
        for store in stores { _ = try await store.add("a", to: "1") }
        let known = try #require(first.known.withLock { $0 })
        #expect(second.known.withLock { $0 } == known)
        for store in stores { try await store.close() }
    }

    @Test func `a service doesn't use a PostgreSQL server if primary.json can't be read`() async throws {
        let note = Note()
        note.isDamaged.withLock { $0 = true }
        let server = try server()
        let error = await #expect(throws: StoreError.self) {
            try await PostgresDatabase(try PostgresAddress(server.url()), storage: note.storage)
        }
        #expect("\(String(describing: error))".contains("`primary.json` can't be read"))
    }
}
