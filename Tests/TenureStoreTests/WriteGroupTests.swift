import Foundation
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `transactions that share one flush to disk` {
    @Test func `a failed transaction doesn't affect other transactions in the same flush to disk`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let insert: @Sendable (any DatabaseSession) throws(StoreError) -> Void = {
                            session throws(StoreError) in
                            try session.execute(
                                "INSERT INTO progress (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                            if number.isMultiple(of: 3) { throw .failed("\(number)") }
                        }
                        do {
                            try await store.database.write(locking: [], insert)
                            #expect(!number.isMultiple(of: 3))
                        } catch {
                            #expect(error as? StoreError == .failed("\(number)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let kept = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT name FROM progress").map { row throws(StoreError) in try row.text(0) }
            }
            #expect(Set(kept) == Set((0..<200).filter { !$0.isMultiple(of: 3) }.map(String.init)))
            try await store.close()
        }
    }

    @Test func `concurrent SQLite transactions share flushes to disk`() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            let store = Store(database)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        try await store.database.write(locking: []) { session throws(StoreError) in
                            try session.execute(
                                "INSERT INTO progress (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                            return
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(database.groupsWritten > 0)
            #expect(database.groupsWritten < 500)
            try await store.close()
        }
    }

    @Test func `writes of canceled tasks are saved in SQLite, and writes that await each other aren't grouped`()
        async throws
    {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/tenure.sqlite")
            let store = Store(database)
            let tasks = (0..<100).map { number in
                Task {
                    try await store.database.write(locking: []) { session throws(StoreError) in
                        try session.execute(
                            "INSERT INTO progress (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                        return
                    }
                }
            }
            for task in tasks { task.cancel() }
            for task in tasks { try await task.value }
            let count = try await store.database.read { session throws(StoreError) in
                try session.row("SELECT count(*) FROM progress")?.integer(0)
            }
            #expect(count == 100)
            // Writes that come one after the other aren't grouped.
            let groups = database.groupsWritten
            for number in 100..<110 {
                try await store.database.write(locking: []) { session throws(StoreError) in
                    _ = try session.execute(
                        "INSERT INTO progress (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                }
            }
            #expect(database.groupsWritten == groups + 10)
            try await store.close()
        }
    }

    @Test func `a write to a closed SQLite database is an error`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await store.close()
            await #expect(throws: StoreError.self) {
                try await store.database.write(locking: []) { session throws(StoreError) in
                    _ = try session.execute("DELETE FROM progress")
                }
            }
        }
    }
}
