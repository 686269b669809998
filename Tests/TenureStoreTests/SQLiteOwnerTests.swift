import Foundation
import TenureCore
import Testing

@testable import TenureStore

/// The app that an SQLite database belongs to, and the releases that may use it.
@Suite struct `an SQLite database of one app` {
    private static let (first, second) = ("com.example.first", "com.example.second")

    private static func open(_ path: String, for app: String?, adding step: Migration? = nil) throws -> Store {
        Store(
            try SQLiteDatabase(
                path: path, DatabaseOpening(bundleID: app, migrations: Migration.all + (step.map { [$0] } ?? []))))
    }

    private static func add(_ name: String, to store: Store) async throws {
        try await store.write { transaction in
            try transaction.session.execute(
                "INSERT INTO progress (name, value) VALUES ($1, '')", [.text(name)])
        }
    }

    @Test func `a service of another app can't use an SQLite database, and the error names both apps`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Self.open(path, for: Self.first)
            let error = #expect(throws: StoreError.self) { try Self.open(path, for: Self.second) }
            #expect(error == .otherApp(database: path, found: Self.first, expected: Self.second))
            for name in [Self.first, Self.second] { #expect(error?.description.contains("`\(name)`") == true) }
            try await Self.open(path, for: nil).close()
            try await Self.open(path, for: Self.first).close()
            try await store.close()
        }
    }

    @Test func `an SQLite database that belongs to no app is assigned to the app of the first service`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            try await Self.open(path, for: nil).close()
            try await Self.open(path, for: Self.first).close()
            #expect(SQLiteFile.header(at: path)?.bundleID == Self.first)
            #expect(throws: StoreError.self) { try Self.open(path, for: Self.second) }
        }
    }

    @Test func `an SQLite database isn't replaced by a backup of another app's database`() async throws {
        try await withFolder { folder in
            let (path, other) = (folder + "/tenure.sqlite", folder + "/other.sqlite")
            try await Self.open(path, for: Self.first).close()
            try await Self.open(other, for: Self.second).close()
            let bytes = FileManager.default.contents(atPath: path)
            for expected in [nil, Self.first] {
                #expect(
                    throws: SQLiteFileError.unusableBackup(
                        path: other, .otherApp(database: other, found: Self.second, expected: Self.first))
                ) { try SQLiteRestore(of: other, to: path, for: expected).run() }
            }
            #expect(FileManager.default.contents(atPath: path) == bytes)
            // Without a file there is nothing to overwrite, but the backup belongs to another app.
            let new = folder + "/new.sqlite"
            #expect(throws: SQLiteFileError.self) {
                try SQLiteRestore(of: other, to: new, for: Self.first).run()
            }
            #expect(try SQLiteRestore(of: other, to: new).run().replacedPath == nil)
        }
    }

    /// What a newer release's migration still allows older releases.
    enum Permission: String, CaseIterable, Sendable {
        case writing, reading, none
    }

    @Test(arguments: Permission.allCases)
    func `an older release can use a migrated SQLite database only as far as the migration permits`(
        permission: Permission
    ) async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let version = Migration.all.count + 1
            let step = Migration(
                "\(version) test", version: version, oldestWriter: permission == .writing ? 1 : nil,
                oldestReader: permission == .none ? nil : 1,
                [.shared("CREATE TABLE added (id INTEGER PRIMARY KEY) STRICT")])
            let old = try Self.open(path, for: Self.first)
            try await Self.add("before", to: old)
            let new = try Self.open(path, for: Self.first, adding: step)
            let newer = StoreError.newerDatabase(path: path)
            if permission == .writing {
                try await Self.add("after", to: old)
                try await Self.open(path, for: Self.first).close()
            } else {
                for _ in 0..<5 { await #expect(throws: newer) { try await Self.add("after", to: old) } }
                #expect(throws: newer) { try Self.open(path, for: Self.first) }
            }
            if permission == .none {
                await #expect(throws: newer) { try await old.read { try $0.publication() } }
                #expect(SQLiteDatabase.objection(to: path) == newer)
            } else {
                #expect(try await old.read { try $0.publication() } == nil)
                #expect(SQLiteDatabase.objection(to: path) == nil)
                try await Store(SQLiteDatabase(path: path, .existing(of: nil))).close()
            }
            try await Self.add("last", to: new)
            try await old.close()
            try await new.close()
        }
    }

    @Test func `a command refuses an older SQLite database; only the service migrates it`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            try await Self.open(path, for: Self.first).close()
            let version = Migration.all.count + 1
            var command = DatabaseOpening.existing(of: nil)
            command.migrations.append(Migration("\(version) test", version: version, []))
            #expect(throws: StoreError.olderDatabase(database: path)) { try SQLiteDatabase(path: path, command) }
            #expect(SQLiteFile.header(at: path)?.version == Migration.all.count)
        }
    }

    @Test func `a moved SQLite database accepts no writes and no service until the move is undone`() async throws {
        try await withFolder { folder in
            let (path, target) = (folder + "/tenure.sqlite", folder + "/target.sqlite")
            let running = try Self.open(path, for: Self.first)
            try await Self.add("before", to: running)
            // `tenure database migrate` opens the database like this, while the service runs.
            let source = try Store(SQLiteDatabase(path: path, .existing(of: nil)))
            let new = try Store(SQLiteDatabase(path: target, .new(of: Self.first)))
            let summarize: DatabaseCopy.Summary = { _ throws(StoreError) in [:] }
            _ = try await DatabaseCopy().run(
                from: source.database, to: new.database, at: target, summarize: summarize)
            let moved = StoreError.moved(database: path, to: target)
            for store in [running, source] {
                await #expect(throws: moved) { try await Self.add("after", to: store) }
                #expect(try await store.read { try $0.publication() } == nil)
            }
            await #expect(throws: moved) {
                try await DatabaseCopy().run(
                    from: source.database, to: new.database, at: target, summarize: summarize)
            }
            #expect(throws: moved) { try Self.open(path, for: Self.first) }
            let header = try await new.read { try DatabaseHeader.read(in: $0.session) }
            #expect(header.bundleID == Self.first && header.movedTo == nil && header.id == source.databaseID)
            try await source.database.writeAlone { session throws(StoreError) in
                try DatabaseHeader.markMoved(to: nil, in: session)
            }
            try await Self.add("after", to: running)
            for store in [running, source, new] { try await store.close() }
        }
    }

    @Test func `an SQLite database isn't marked as moved if the copy to the target database fails`() async throws {
        try await withFolder { folder in
            let source = try Self.open(folder + "/tenure.sqlite", for: Self.first)
            let target = try Self.open(folder + "/target.sqlite", for: Self.first)
            // The target's last step fails: a deferred constraint is checked by its `COMMIT`.
            try await target.database.write(locking: []) { session throws(StoreError) in
                try session.execute(
                    """
                    CREATE TABLE late (customer INTEGER REFERENCES customers (id) DEFERRABLE INITIALLY DEFERRED)
                    """)
                try session.execute(
                    """
                    CREATE TRIGGER fails AFTER INSERT ON progress BEGIN INSERT INTO late VALUES (704); END
                    """)
            }
            try await Self.add("before", to: source)
            await #expect(throws: StoreError.self) {
                try await DatabaseCopy().run(from: source.database, to: target.database, at: "b") {
                    _ throws(StoreError) in
                    [:]
                }
            }
            try await Self.add("after", to: source)
            #expect(try await source.read { try DatabaseHeader.read(in: $0.session) }.movedTo == nil)
            try await source.close()
            try await target.close()
        }
    }
}
