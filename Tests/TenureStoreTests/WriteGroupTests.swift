import Foundation
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `acts that share a flush` {
    @Test func `one that fails leaves the others whole`() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let insert: @Sendable (any SQLSession) throws(StoreError) -> Void = {
                            session throws(StoreError) in
                            try session.execute(
                                "INSERT INTO marks (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                            if number.isMultiple(of: 3) { throw .failed("\(number)") }
                        }
                        do {
                            try await store.write(locking: [], insert)
                            #expect(!number.isMultiple(of: 3))
                        } catch {
                            #expect(error as? StoreError == .failed("\(number)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let kept = try await store.read { session throws(StoreError) in
                try session.rows("SELECT name FROM marks").map { row throws(StoreError) in try row.text(0) }
            }
            #expect(Set(kept) == Set((0..<200).filter { !$0.isMultiple(of: 3) }.map(String.init)))
            try await store.close()
        }
    }

    @Test func `share one while the disk is busy`() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        try await store.write(locking: []) { session throws(StoreError) in
                            try session.execute(
                                "INSERT INTO marks (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                            return
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(store.groupsWritten > 0)
            #expect(store.groupsWritten < 500)
            try await store.close()
        }
    }

    @Test func `each is written by whoever gathers, also where that one is cancelled`() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            let tasks = (0..<100).map { number in
                Task {
                    try await store.write(locking: []) { session throws(StoreError) in
                        try session.execute(
                            "INSERT INTO marks (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                        return
                    }
                }
            }
            for task in tasks { task.cancel() }
            for task in tasks { try await task.value }
            let count = try await store.read { session throws(StoreError) in
                try session.row("SELECT count(*) FROM marks")?.integer(0)
            }
            #expect(count == 100)
            // One after the other, nobody waits for anybody.
            let groups = store.groupsWritten
            for number in 100..<110 {
                try await store.write(locking: []) { session throws(StoreError) in
                    _ = try session.execute(
                        "INSERT INTO marks (name, value) VALUES ($1, 'x')", [.text("\(number)")])
                }
            }
            #expect(store.groupsWritten == groups + 10)
            try await store.close()
        }
    }

    @Test func `a write to a closed record is an error`() async throws {
        try await withFolder { folder in
            let store = try SQLiteStore(path: folder + "/record.sqlite")
            try await store.close()
            await #expect(throws: StoreError.self) {
                try await store.write(locking: []) { session throws(StoreError) in
                    _ = try session.execute("DELETE FROM marks")
                }
            }
        }
    }
}
