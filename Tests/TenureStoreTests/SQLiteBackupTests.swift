import CommandRunner
import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `an SQLite backup` {
    private func fill(_ store: Store, _ numbers: Range<Int>) async throws {
        for number in numbers {
            _ = try await store.update(
                [Identity(.appTransactionID, String(number))], in: Realm(.production), at: .now
            ) { known in
                var update = CustomerUpdate(of: known)
                update.add([Artifact(.receipt, bytes: [1, 2], sha256: [UInt8(number % 256)], signedDate: nil)])
                return (update, ())
            }
        }
    }

    @Test func `an SQLite backup contains every write that was acknowledged before the backup began`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await fill(store, 0..<50)
            async let more: Void = fill(store, 50..<300)
            let result = try SQLiteBackup(of: folder + "/tenure.sqlite", to: folder + "/copy").run(replacing: false)
            try await more
            #expect(result.customers >= 50 && result.artifacts == result.customers)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("copy") }
            #expect(names == ["copy"], "the backup is one file, without a log beside it")
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/copy")[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
            let copy = try Store(SQLiteDatabase(path: folder + "/copy"))
            #expect(copy.databaseID == store.databaseID)
            for number in 0..<50 {
                let identity = Identity(.appTransactionID, String(number))
                #expect(try await copy.customer(by: identity, in: Realm(.production)) != nil)
            }
            try await copy.close()
            try await store.close()
        }
    }

    @Test func `an SQLite backup replaces an existing file only with the option to replace`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await fill(store, 0..<3)
            let backup = SQLiteBackup(of: folder + "/tenure.sqlite", to: folder + "/copy")
            try Data("a letter".utf8).write(to: URL(fileURLWithPath: folder + "/copy"))
            #expect(throws: SQLiteFileError.exists(path: folder + "/copy")) { try backup.run(replacing: false) }
            #expect(try String(contentsOfFile: folder + "/copy", encoding: .utf8) == "a letter")
            _ = try await store.update(
                [Identity(.appTransactionID, "0")], in: Realm(.production), at: .now
            ) { known in
                var update = CustomerUpdate(of: known)
                update.add([Artifact(.receipt, bytes: [3], sha256: [99], signedDate: nil)])
                return (update, ())
            }
            let contents = try backup.run(replacing: true)
            #expect(contents.customers == 3)
            #expect(contents.artifacts == 4)
            let size = try Data(contentsOf: URL(fileURLWithPath: folder + "/copy")).count
            #expect(contents.size == size)
            try await store.close()
        }
    }

    @Test func `a renamed SQLite file is an error if its folder can't be flushed`() throws {
        try withFolder { folder in #expect(SQLiteCopy.flushFolder(of: folder + "/copy")) }
        try withUnreadableFolder { folder in #expect(!SQLiteCopy.flushFolder(of: folder + "/copy")) }
    }

    @Test func `an SQLite backup without a valid source or target folder fails, and leaves no file`() throws {
        try withFolder { folder in
            let record = folder + "/tenure.sqlite"
            #expect(throws: SQLiteFileError.noDatabase(path: record)) {
                try SQLiteBackup(of: record, to: folder + "/copy").run(replacing: false)
            }
            try Data("this is a letter to my grandmother, and longer than a header of SQLite".utf8)
                .write(to: URL(fileURLWithPath: record))
            #expect(throws: SQLiteFileError.self) {
                try SQLiteBackup(of: record, to: folder + "/copy").run(replacing: false)
            }
            #expect(throws: SQLiteFileError.self) {
                try SQLiteBackup(of: record, to: folder + "/none/copy").run(replacing: false)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["tenure.sqlite"])
        }
    }

    @Test func `a restore of a copied SQLite database reads the log beside the copy`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let first = try Store(SQLiteDatabase(path: path))
            try await fill(first, 0..<3)
            try await first.close()
            let store = try Store(SQLiteDatabase(path: path))
            try await fill(store, 3..<5)
            // The last writes are only in the log while the database is open.
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: folder + "/copy" + suffix)
            }
            try FileManager.default.copyItem(atPath: folder + "/copy", toPath: folder + "/without-log")
            try await store.close()
            let restored = try SQLiteRestore(of: folder + "/copy", to: folder + "/restored").run()
            #expect(restored.contents.customers == 5)
            let earlier = try SQLiteRestore(of: folder + "/without-log", to: folder + "/earlier").run()
            #expect(earlier.contents.customers == 3)
        }
    }

    @Test func `an empty file is refused as a backup and as the source of one, and the database stays`() async throws {
        try await withFolder { folder in
            let (path, empty) = (folder + "/tenure.sqlite", folder + "/empty")
            let store = try Store(SQLiteDatabase(path: path))
            try await fill(store, 0..<3)
            try await store.close()
            try Data().write(to: URL(fileURLWithPath: empty))
            let refused = #expect(throws: SQLiteFileError.self) { try SQLiteRestore(of: empty, to: path).run() }
            #expect(refused?.description.contains("it contains no Tenure database; choose another backup") == true)
            let unread = #expect(throws: SQLiteFileError.self) {
                try SQLiteBackup(of: empty, to: folder + "/copy").run(replacing: false)
            }
            #expect(unread?.description.contains("it has no data; check the path") == true)
            #expect(try SQLiteBackup(of: path, to: folder + "/sound").run(replacing: false).customers == 3)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.sorted() == ["empty", "sound", "tenure.sqlite"])
        }
    }

    @Test func `of several copies of a replaced database, the newest is named`() throws {
        try withFolder { folder in
            let path = folder + "/tenure.sqlite"
            #expect(SQLiteDatabase.savedCopy(of: path) == nil)
            for name in ["", "-2", "-3"] {
                let copy = path + SQLiteRescue.suffix + name
                try Data("x".utf8).write(to: URL(fileURLWithPath: copy))
                #expect(SQLiteDatabase.savedCopy(of: path)?.hasSuffix(SQLiteRescue.suffix + name) == true)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `a database that root restores gets the owner of the replaced database, or else of the folder`()
        async throws
    {
        try await withFolder { folder in
            let (path, copy) = (folder + "/tenure.sqlite", folder + "/copy")
            let store = try Store(SQLiteDatabase(path: path))
            try await fill(store, 0..<3)
            _ = try SQLiteBackup(of: path, to: copy).run(replacing: false)
            try await store.close()
            func owner() throws -> Int? {
                (try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? NSNumber)?.intValue
            }
            #expect(chown(path, 65_534, 65_534) == 0)
            #expect(try SQLiteRestore(of: copy, to: path).run().contents.customers == 3)
            #expect(try owner() == 65_534)
            try FileManager.default.removeItem(atPath: path)
            #expect(chown(folder, 65_533, 65_533) == 0)
            _ = try SQLiteRestore(of: copy, to: path).run()
            #expect(try owner() == 65_533)
        }
    }
}
