import Foundation
import GRDB
import StoreContract
import Testing

@testable import TenureStore

@Suite struct `a SQLite record of an earlier release` {
    @Test(arguments: 1...Migration.all.count)
    func `comes with all that it held`(version: Int) async throws {
        try await withFolder { folder in
            let path = folder + "/record.sqlite"
            let migrations = Array(Migration.all.prefix(version))
            let queue = try DatabaseQueue(path: path)
            try Migration.migrator.migrate(queue, upTo: migrations[version - 1].name)
            try await queue.write { try EarlierRelease.fill(SQLiteSession(db: $0), after: migrations) }
            let before = try await queue.read {
                try EarlierRelease.contents(SQLiteSession(db: $0), after: migrations)
            }
            try queue.close()
            #expect(before.count > 20)

            let store = try SQLiteStore(path: path)
            let after = try await store.read { session throws(StoreError) in
                try EarlierRelease.contents(session, after: migrations)
            }
            #expect(after == before)
            try await EarlierRelease.expectKnown(store)
            try await store.close()
        }
    }

    @Test(arguments: 1...Migration.all.count)
    func `has the shape of a new one afterwards`(version: Int) throws {
        try withFolder { folder in
            let queue = try DatabaseQueue(path: folder + "/old.sqlite")
            try Migration.migrator.migrate(queue, upTo: Migration.all[version - 1].name)
            try queue.close()
            let shapes = try ["old", "new"].map { name in
                _ = try SQLiteStore(path: "\(folder)/\(name).sqlite")
                let queue = try DatabaseQueue(path: "\(folder)/\(name).sqlite")
                return try queue.read { db in
                    try String.fetchAll(
                        db, sql: "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
                }
            }
            #expect(shapes[0] == shapes[1])
        }
    }
}
