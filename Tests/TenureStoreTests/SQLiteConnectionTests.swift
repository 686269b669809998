import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

private let readOnlyDetail = "attempt to write a readonly database; check who may write to the file and its folder"

@Suite struct `a connection to SQLite` {
    private func memory() throws -> SQLiteConnection { try SQLiteConnection(path: ":memory:", for: .creating) }

    @Test func `a connection to SQLite returns every value as it was sent`() throws {
        let connection = try memory()
        try connection.runAll("CREATE TABLE v (i INTEGER, r REAL, t TEXT, b BLOB) STRICT")
        let rows: [[SQLValue]] = [
            [.integer(.min), .real(-0.1), .text(""), .blob([])],
            [.integer(.max), .real(.infinity), .text("ä🙂\n"), .blob([0, 255])],
            [.null, .null, .null, .null], [.integer(-1), .real(0), .text("a\u{0}b '\" $1"), .blob(Array("text".utf8))],
        ]
        for row in rows {
            let changes = try connection.execute("INSERT INTO v VALUES ($1, $2, $3, $4)", row)
            #expect(changes == 1)
        }
        #expect(try connection.rows("SELECT i, r, t, b FROM v ORDER BY rowid") == rows.map { SQLRow($0) })
    }

    @Test(
        arguments: [
            (5, .busy), (6, .busy), (517, .busy), (13, .full), (11, .damaged("database disk image is malformed")),
            (267, .damaged("database disk image is malformed")), (26, .damaged("file is not a database")),
            (8, .readOnly(database: ":memory:", detail: readOnlyDetail)),
            (1032, .readOnly(database: ":memory:", detail: readOnlyDetail)),
            (14, .unavailable(path: ":memory:", detail: "unable to open database file")),
            (3, .unavailable(path: ":memory:", detail: "access permission denied")), (10, .failed("disk I/O error")),
            (19, .failed("constraint failed")),
        ] as [(Int32, StoreError)])
    func `each result code of SQLite becomes the error that tells what to do`(code: Int32, expected: StoreError)
        throws
    {
        #expect(try memory().error(code) == expected)
    }

    @Test func `a statement with too few arguments, or without any SQL, is an error`() throws {
        let connection = try memory()
        for count in [1, 3] {
            let error = #expect(throws: StoreError.self) {
                try connection.rows("SELECT $1, $2", [SQLValue](repeating: 1, count: count))
            }
            let detail = "a statement got \(count) arguments, which isn't the number of its parameters"
            #expect(error == .defect(detail))
        }
        #expect(throws: StoreError.defect("a statement is empty")) { try connection.rows("") }
        #expect(try connection.rows("SELECT $1, $2", [1, "a"]) == [SQLRow([1, "a"])])
    }

    @Test func `a connection to SQLite runs more statements than it keeps prepared`() throws {
        let connection = try memory()
        for _ in 0..<2 {
            for number in 0..<300 {
                let rows = try connection.rows("SELECT \(number)")
                #expect(rows == [SQLRow([SQLValue(number)])])
            }
        }
    }

    @Test func `an SQLite transaction that throws changes nothing, and ends`() throws {
        let connection = try memory()
        try connection.runAll("CREATE TABLE v (i INTEGER UNIQUE)")
        #expect(throws: StoreError.damaged("so")) {
            try connection.transaction { () throws(StoreError) -> Void in
                try connection.execute("INSERT INTO v VALUES (1)")
                throw .damaged("so")
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.rows("SELECT i FROM v").isEmpty)
        let inserted = try connection.transaction { () throws(StoreError) -> Int in
            try connection.execute("INSERT INTO v VALUES (2)")
        }
        #expect(inserted == 1)
        #expect(try connection.insert("INSERT INTO v VALUES (2) ON CONFLICT DO NOTHING", []) == nil)
        #expect(try connection.insert("INSERT INTO v VALUES (3) ON CONFLICT DO NOTHING", []) == 2)
        #expect(try connection.rows("SELECT i FROM v ORDER BY i") == [SQLRow([2]), SQLRow([3])])
    }

    @Test func `an SQLite read transaction doesn't see later writes, and can't write`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            let (hasRead, hasWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = "SELECT count(*) FROM progress"
            async let counts = store.database.read { session throws(StoreError) in
                let before = try session.row(count)?.integer(0)
                hasRead.signal()
                hasWritten.wait()
                return [before, try session.row(count)?.integer(0)]
            }
            // This closure runs on the writer's queue, on which no other task waits.
            try await store.write { transaction in
                hasRead.wait()
                try transaction.setStoredValue(named: "a", to: "b")
            }
            hasWritten.signal()
            #expect(try await counts == [0, 0])
            let now = try await store.database.read { session throws(StoreError) in try session.row(count)?.integer(0) }
            #expect(now == 1)
            let error = await #expect(throws: StoreError.self) {
                try await store.read { try $0.setStoredValue(named: "c", to: "d") }
            }
            #expect(error == .readOnly(database: SQLiteFile.resolved(path), detail: readOnlyDetail))
            try await store.close()
            let closed = StoreError.failed("the database is closed")
            await #expect(throws: closed) { try await store.read { try $0.check() } }
            await #expect(throws: closed) { try await store.write { try $0.check() } }
            await #expect(throws: closed) { try await store.lookUp(1) }
            #expect(await store.writeFailure() == closed)
        }
    }

    @Test func `customers in SQLite that were merged in a circle are an error, never an endless loop`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let change = { @Sendable (known: Customer?) in (CustomerUpdate(of: known), ()) }
            var ids: [Int64] = []
            for id in ["1", "2"] {
                let identities = [Identity(.appTransactionID, id)]
                ids.append(try await store.update(identities, in: Realm(.production), at: .now, change).0.id)
            }
            let first = ids[0]
            let sum = ids[0] + ids[1]
            try await store.write {
                try $0.session.execute("UPDATE customers SET merged_into = $1 - id", [.integer(sum)])
            }
            let uses: [() async throws -> Void] = [
                { _ = try await store.lookUp(first) }, { _ = try await store.read { try $0.customer(first) } },
                { _ = try await store.read { try $0.rows(of: first) } },
                {
                    let identities = [Identity(.appTransactionID, "1")]
                    _ = try await store.update(identities, in: Realm(.production), at: .now, change)
                },
            ]
            for use in uses {
                let error = await #expect(throws: StoreError.self) { try await use() }
                guard case .damaged(let detail)? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(detail.hasSuffix("was merged in a circle"), "\(detail)")
            }
            try await store.close()
        }
    }

    @Test func `a device is refused as an SQLite database, and its path counts as taken`() throws {
        let error = #expect(throws: StoreError.self) { try SQLiteDatabase(path: "/dev/null") }
        #expect(error == .unusable(database: "/dev/null", detail: "it isn't a file; check the path"))
        #expect(SQLiteDatabase.exists(at: "/dev/null"))
        try withFolder { folder in
            #expect(!SQLiteDatabase.exists(at: folder + "/tenure.sqlite"))
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            #expect(SQLiteDatabase.exists(at: folder + "/tenure.sqlite"))
            withExtendedLifetime(store) {}
        }
    }
}
