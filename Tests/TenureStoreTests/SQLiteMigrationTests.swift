import Foundation
import GRDB
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `a SQLite record of an earlier release` {
    @Test(arguments: 1...Migration.all.count)
    func `comes with all that it held, in the shape of a new one`(version: Int) async throws {
        try await expectKept(Array(Migration.all.prefix(version)))
    }

    @Test(arguments: EditedLifecycle.allCases)
    func `whose second step was edited comes so too`(form: EditedLifecycle) async throws {
        for count in Set([2, form.migrations.count]) {
            try await expectKept(Array(form.migrations.prefix(count)))
        }
    }

    private func expectKept(_ migrations: [Migration]) async throws {
        try await withFolder { folder in
            let path = folder + "/old.sqlite"
            let queue = try DatabaseQueue(path: path)
            try Migration.migrator(of: migrations).migrate(queue)
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

            try await SQLiteStore(path: folder + "/new.sqlite").close()
            let shapes = try ["old", "new"].map { name in
                let queue = try DatabaseQueue(path: "\(folder)/\(name).sqlite")
                return try queue.read { db in
                    try String.fetchAll(
                        db, sql: "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
                }
            }
            #expect(shapes[0] == shapes[1])
        }
    }

    // Between two releases the table remembered the numbers that it gave, and then did not.
    @Test(arguments: ["INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT"])
    func `gives no number twice`(key: String) async throws {
        try await withFolder { folder in
            let path = folder + "/record.sqlite"
            let queue = try DatabaseQueue(path: path)
            try Migration.migrator.migrate(queue, upTo: Migration.lifecycle.name)
            try await queue.write { db in
                let table = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'customers'") ?? ""
                try db.execute(sql: "DROP TABLE customers")
                try db.execute(sql: table.replacingOccurrences(of: "id INTEGER PRIMARY KEY", with: "id \(key)"))
                for number in 1...5 {
                    try db.execute(
                        sql: "INSERT INTO customers (realm, public_id, created_at, facts) VALUES (1, ?, 0, ?)",
                        arguments: ["cus_\(number)", Data(CustomerFacts().encoded)])
                }
                try db.execute(sql: "DELETE FROM customers WHERE id = 5")
            }
            try queue.close()
            let store = try SQLiteStore(path: path)
            let first = try await newCustomer("704", in: store)
            // Without memory nobody can know of the fifth.
            #expect(first.id == (key.hasSuffix("AUTOINCREMENT") ? 6 : 5))
            let act = RequestedAct(.erase, actor: "test", reason: nil, at: .now, request: nil)
            _ = try await store.perform(act, on: .number(first.id), by: Rederivation { _ in CustomerFacts() })
            #expect(try await newCustomer("705", in: store).id == first.id + 1)
            try await store.close()
        }
    }

    private func newCustomer(_ id: String, in store: SQLiteStore) async throws -> Customer {
        try await store.amend([Identity(.appTransactionID, id)], in: Realm(.production), at: .now) {
            (Amendment(of: $0), ())
        }.0
    }
}
