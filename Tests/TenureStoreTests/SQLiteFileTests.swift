import Foundation
import Testing

@testable import TenureStore

@Suite struct `the file at the path of a database` {
    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private static func refusal(_ path: String, making: Bool = true) -> StoreError? {
        do {
            _ = try Store(SQLiteDatabase(path: path, DatabaseOpening(creates: making, migrates: making)))
            return nil
        } catch {
            return error
        }
    }

    @Test func `a path that isn't a Tenure database is refused with the reason, and stays unchanged`() throws {
        try withFolder { folder in
            let letter = folder + "/letter.txt"
            try Data("to my grandmother, and longer than a header of SQLite".utf8)
                .write(to: URL(fileURLWithPath: letter))
            let inner = folder + "/inner"
            try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
            let other = folder + "/other.sqlite"
            try SQLiteConnection(path: other, for: .creating).execute(
                "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
            let migrated = folder + "/migrated.sqlite"
            try SQLiteConnection(path: migrated, for: .creating).runAll(
                "CREATE TABLE migrations (id INTEGER, migration TEXT); CREATE TABLE notes (id INTEGER PRIMARY KEY)")
            for (path, word) in [
                (letter, "isn't an SQLite database"), (inner, "a folder"), (other, "another program's database"),
                (migrated, "another program's database"),
            ] {
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
                let before = FileManager.default.contents(atPath: path)
                let entries = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                for making in [true, false] {
                    guard case .unusable(path, let detail)? = Self.refusal(path, making: making) else {
                        Issue.record("\(path): \(String(describing: Self.refusal(path, making: making)))")
                        continue
                    }
                    #expect(detail.contains(word), "\(detail)")
                }
                #expect(SQLiteDatabase.objection(to: path)?.description.contains(word) == true)
                #expect(try Self.mode(path) == 0o755)
                #expect(FileManager.default.contents(atPath: path) == before)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == entries)
            }
        }
    }

    @Test func `an SQLite database is recognized through a symbolic link`() throws {
        try withFolder { folder in
            let (path, link) = (folder + "/tenure.sqlite", folder + "/link.sqlite")
            // All rows may still be in the write-ahead log. The log is in the folder of the file, not of the link.
            let store = try Store(SQLiteDatabase(path: path))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            #expect(try SQLiteFile.holdsDatabase(at: link))
            #expect(try Store(SQLiteDatabase(path: link, .existing(of: nil))).databaseID == store.databaseID)
            withExtendedLifetime(store) {}
        }
    }

    @Test func `an SQLite database can be created at a path with no file or with an empty file`() async throws {
        try await withFolder { folder in
            let path = folder + "/a %41 “record”?.sqlite"
            #expect(SQLiteDatabase.objection(to: path) == nil, "it can be made")
            try Data().write(to: URL(fileURLWithPath: path))
            // A copy by hand gets such an empty file if the service is just creating its database.
            #expect(Self.refusal(path, making: false)?.description.contains("database backup") == true)
            let store = try Store(SQLiteDatabase(path: path))
            #expect(SQLiteDatabase.objection(to: path) == nil)
            try await store.close()
            #expect(SQLiteDatabase.objection(to: path) == nil)
            try await Store(SQLiteDatabase(path: path, .existing(of: nil))).close()
        }
    }

    @Test func `an SQLite file of a newer release is refused before a service starts, but can be backed up`()
        async throws
    {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            try await Store(SQLiteDatabase(path: path)).close()
            try SQLiteConnection(path: path, for: .writing).execute(
                "INSERT INTO migrations VALUES ('999 later', 0)")
            #expect(SQLiteDatabase.objection(to: path) == .newerDatabase(path: path))
            #expect(try SQLiteBackup(of: path, to: folder + "/copy").run(replacing: false).customers == 0)
        }
    }

    @Test(arguments: [Data(), Data("not a database".utf8), Data(repeating: 0x5A, count: 8_192)])
    func `an SQLite backup replaces a damaged earlier backup that has a log`(contents: Data) async throws {
        try await withFolder { folder in
            let (path, earlier) = (folder + "/tenure.sqlite", folder + "/earlier.sqlite")
            try await Store(SQLiteDatabase(path: path)).close()
            // This log is of a database that has another ID.
            let other = try Store(SQLiteDatabase(path: folder + "/other.sqlite"))
            try FileManager.default.copyItem(atPath: folder + "/other.sqlite-wal", toPath: earlier + "-wal")
            try await other.close()
            try contents.write(to: URL(fileURLWithPath: earlier))
            #expect(try SQLiteBackup(of: path, to: earlier).run(replacing: true).customers == 0)
            #expect(!FileManager.default.fileExists(atPath: earlier + "-wal"))
            let (store, copy) = (try Store(SQLiteDatabase(path: path)), try Store(SQLiteDatabase(path: earlier)))
            #expect(copy.databaseID == store.databaseID)
            try await copy.close()
            try await store.close()
        }
    }

    @Test func `an SQLite backup never removes the log of a missing database, unless the log is empty`() async throws {
        try await withFolder { folder in
            let (path, target) = (folder + "/tenure.sqlite", folder + "/earlier.sqlite")
            try await Store(SQLiteDatabase(path: path)).close()
            let log = URL(fileURLWithPath: target + "-wal")
            try Data("rows".utf8).write(to: log)
            #expect(throws: SQLiteFileError.log(path: target)) {
                try SQLiteBackup(of: path, to: target).run(replacing: true)
            }
            #expect(try Data(contentsOf: log) == Data("rows".utf8))
            try Data().write(to: log)
            #expect(try SQLiteBackup(of: path, to: target).run(replacing: false).customers == 0)
            #expect(!FileManager.default.fileExists(atPath: log.path))
        }
    }

    @Test func `an SQLite backup doesn't overwrite its own source or an open database`() async throws {
        try await withFolder { folder in
            let (path, other) = (folder + "/tenure.sqlite", folder + "/other.sqlite")
            let store = try Store(SQLiteDatabase(path: path))
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: path)
            for target in [path, folder + "/./tenure.sqlite", folder + "/link"] {
                #expect(throws: SQLiteFileError.itself(path: target)) {
                    try SQLiteBackup(of: path, to: target).run(replacing: true)
                }
            }
            let running = try Store(SQLiteDatabase(path: other))
            #expect(throws: SQLiteFileError.targetInUse(path: other)) {
                try SQLiteBackup(of: path, to: other).run(replacing: true)
            }
            try await running.close()
            #expect(try SQLiteBackup(of: path, to: other).run(replacing: true).customers == 0)
            #expect(!FileManager.default.fileExists(atPath: other + "-wal"))
            let copy = try Store(SQLiteDatabase(path: other))
            #expect(copy.databaseID == store.databaseID)
            try await copy.close()
            try await store.close()
        }
    }

    @Test func `a vacuum refuses another app's database and a file without a database`() async throws {
        try await withFolder { folder in
            let (path, empty) = (folder + "/tenure.sqlite", folder + "/empty.sqlite")
            let (first, second) = ("com.example.first", "com.example.second")
            try await Store(SQLiteDatabase(path: path, DatabaseOpening(bundleID: first))).close()
            let otherApp = StoreError.otherApp(database: path, found: first, expected: second)
            #expect(throws: SQLiteFileError.store(otherApp)) { try SQLiteVacuum(of: path, for: second).run() }
            try Data().write(to: URL(fileURLWithPath: empty))
            let unusable = StoreError.unusable(
                database: empty, detail: "it contains no Tenure database; check the path")
            #expect(throws: SQLiteFileError.store(unusable)) { try SQLiteVacuum(of: empty, for: nil).run() }
            let sizes = try SQLiteVacuum(of: path, for: first).run()
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            #expect(size.map { Int64($0) } == sizes.after)
        }
    }
}
