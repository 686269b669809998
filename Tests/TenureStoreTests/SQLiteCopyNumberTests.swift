import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

/// The number in a database's header that distinguishes the database from its copies.
@Suite struct `the random number of an SQLite database` {
    private func number(_ path: String) throws -> Int32 {
        try SQLiteCopyNumber.read(SQLiteConnection(path: path, for: .writing))
    }

    @Test func `each SQLite backup gets its own random number in the database header`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let own = try number(path)
            var numbers: Set<Int32?> = [nil, 0, own]
            for name in ["1", "2", "3"] {
                _ = try SQLiteBackup(of: path, to: folder + "/" + name).run(replacing: false)
                #expect(numbers.insert(try number(folder + "/" + name)).inserted)
            }
            #expect(try number(path) == own)
            try await store.close()
        }
    }

    @Test func `an SQLite database gets a new random number if it is opened without a log, and then keeps the number`()
        async throws
    {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let first = try Store(SQLiteDatabase(path: path))
            let before = try number(path)
            let second = try Store(SQLiteDatabase(path: path))
            #expect(try number(path) == before)
            for store in [first, second] { #expect(await store.replacementReport() == nil) }
            try await first.close()
            try await second.close()
            for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
            let third = try Store(SQLiteDatabase(path: path))
            let renewed = try number(path)
            #expect(renewed != before)
            #expect(await third.replacementReport() == nil)
            try await third.close()
            let fourth = try Store(SQLiteDatabase(path: path))
            #expect(try number(path) == renewed)
            #expect(await fourth.replacementReport() == nil)
            try await fourth.close()
        }
    }

    @Test func `several stores that open a backup at the same time don't report that it was replaced`() async throws {
        try await withFolder { folder in
            let original = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            _ = try SQLiteBackup(of: folder + "/tenure.sqlite", to: folder + "/backup").run(replacing: false)
            try await original.close()
            for round in 1...20 {
                let path = folder + "/copy-\(round)"
                try FileManager.default.copyItem(atPath: folder + "/backup", toPath: path)
                let stores = try await withThrowingTaskGroup(of: Store.self) { group in
                    for _ in 0..<4 { group.addTask { try Store(SQLiteDatabase(path: path)) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                for store in stores { #expect(await store.replacementReport() == nil) }
                for store in stores { try await store.close() }
            }
        }
    }

    /// Runs each command that opens a database without a store. The database has no log, as after copying it with `cp`.
    private func forEachCommand(
        _ body: (_ path: String, _ run: @escaping @Sendable () throws -> Void) async throws -> Void
    ) async throws {
        for command in ["backup", "vacuum"] {
            try await withFolder { folder in
                let path = folder + "/tenure.sqlite"
                try await Store(SQLiteDatabase(path: path)).close()
                for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
                try await body(path) {
                    if command == "backup" {
                        _ = try SQLiteBackup(of: path, to: folder + "/backup").run(replacing: false)
                    } else {
                        _ = try SQLiteVacuum(of: path, for: nil).run()
                    }
                }
            }
        }
    }

    @Test func `a backup and a vacuum of a copied SQLite database give it a new random number`() async throws {
        try await forEachCommand { path, run in
            let before = try number(path)
            try run()
            #expect(try number(path) != before)
        }
    }

    @Test func `an open SQLite database reports that its file was truncated after the header`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            try await store.write { try $0.check() }
            #expect(await store.replacementReport() == nil)
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 4096)
            await #expect(throws: StoreError.replaced("`\(path)` was overwritten")) {
                try await store.write { try $0.check() }
            }
            #expect(await store.replacementReport()?.contains("was overwritten while it was open") == true)
        }
    }

    @Test func `an open SQLite database accepts that another process vacuumed it`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let other = try SQLiteConnection(path: path, for: .writing)
            try other.runAll("CREATE TABLE large (bytes BLOB)")
            try other.runAll("INSERT INTO large SELECT zeroblob(1000000)")
            try other.runAll("PRAGMA wal_checkpoint(TRUNCATE)")
            try await store.write { try $0.check() }
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            try other.runAll("DROP TABLE large")
            try other.runAll("VACUUM")
            try await store.write { try $0.check() }
            try other.runAll("PRAGMA wal_checkpoint(TRUNCATE)")
            try await store.write { try $0.check() }
            let present = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            #expect(present > 0 && present < size)
            #expect(await store.replacementReport() == nil)
        }
    }

    @Test func `an open SQLite database reports that a backup was copied over it`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            _ = try SQLiteBackup(of: path, to: folder + "/backup").run(replacing: false)
            let old = try Data(contentsOf: URL(fileURLWithPath: folder + "/backup"))
            // The test overwrites the existing file, as `cp` does.
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: old)
            await #expect(throws: StoreError.replaced("`\(path)` was overwritten")) {
                try await store.write { try $0.check() }
            }
            let report = try #require(await store.replacementReport())
            #expect(
                report.hasPrefix(
                    "`\(path)` was overwritten while it was open. Nothing is read or written until a restart."))
            // The log doesn't belong to the new contents.
            #expect(report.contains(" The old log is `\(path).saved-log`. "), "\(report)")
            #expect(FileManager.default.fileExists(atPath: path + ".saved-log"))
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
            await #expect(throws: StoreError.self) { try await store.read { try $0.check() } }
            await #expect(throws: StoreError.self) { try await store.lookUp(1) }
            try await store.close()
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == old)
        }
    }
}
