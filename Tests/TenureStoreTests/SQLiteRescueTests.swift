import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

/// What an operator reads after the file of an open SQLite database was deleted.
@Suite struct `the report about a replaced SQLite database` {
    /// Opens a database, runs `change` with its path, and returns the path and the report.
    private func report(
        in folder: String, saying what: String = "was deleted or moved", after change: (_ path: String) throws -> Void
    ) async throws -> (path: String, report: String) {
        let path = folder + "/data/tenure.sqlite"
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: false)
        let store = try Store(SQLiteDatabase(path: path))
        try await store.write { try $0.check() }
        try change(path)
        await #expect(throws: StoreError.replaced("`\(path)` \(what)")) {
            try await store.write { try $0.check() }
        }
        let report = try #require(await store.replacementReport())
        // The report stays the same.
        #expect(await store.replacementReport() == report)
        return (path, report)
    }

    private static let start = "was deleted or moved while it was open. Nothing is read or written until a restart."

    @Test func `if a copy can be saved, the report names the copy and the command that restores it`() async throws {
        try await withFolder { folder in
            let (path, report) = try await report(in: folder) { path in
                // An earlier copy stays as it is.
                try Data("earlier".utf8).write(to: URL(fileURLWithPath: path + ".saved"))
                try FileManager.default.removeItem(atPath: path)
            }
            let copy = path + ".saved-2"
            let fix =
                "Stop the service, run `tenure database restore --database \(path) \(copy)`, and start the service."
            #expect(report == "`\(path)` \(Self.start) The open database is saved as `\(copy)`. \(fix)")
            #expect(try String(contentsOfFile: path + ".saved", encoding: .utf8) == "earlier")
            // The copy has everything from the log.
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
            #expect(SQLiteDatabase.exists(at: copy))
        }
    }

    @Test func `if another file is at the path, the report says so, and that file stays as it is without the old log`()
        async throws
    {
        try await withFolder { folder in
            let other = Data("another database".utf8)
            let (path, report) = try await report(in: folder, saying: "was replaced by another file") { path in
                try FileManager.default.moveItem(atPath: path, toPath: folder + "/old")
                try other.write(to: URL(fileURLWithPath: path))
            }
            let copy = path + ".saved"
            let start =
                "`\(path)` was replaced by another file while it was open. Nothing is read or written until a restart."
            let fix =
                "Stop the service, run `tenure database restore --database \(path) \(copy)`, and start the service."
            #expect(report == "\(start) The open database is saved as `\(copy)`. \(fix)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == other)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/data").sorted()
            #expect(names == ["tenure.sqlite", "tenure.sqlite.saved"])
        }
    }

    @Test func `if no copy can be saved, the report says why, and names a backup in place of the copy`() async throws {
        try await withFolder { folder in
            // Without its folder, there is no place for a copy.
            let (path, report) = try await report(in: folder) { path in
                try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
            }
            let reason = "`\(path).saved` can't be written ("
            #expect(
                report.hasPrefix("`\(path)` \(Self.start) The open database can't be saved (\(reason)"), "\(report)")
            let command = "tenure database restore --database \(path) BACKUP"
            let placeholder = "with the path of your last backup as `BACKUP`"
            #expect(
                report.hasSuffix("). Stop the service, run `\(command)` \(placeholder), and start the service."),
                "\(report)")
        }
    }
}
