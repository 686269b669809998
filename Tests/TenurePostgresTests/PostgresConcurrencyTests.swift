import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `concurrent transactions in PostgreSQL` {
    @Test func `a PostgreSQL transaction that the server aborts because of a deadlock is repeated`() async throws {
        try await withStore { store in
            _ = try await store.database.write(locking: []) { session throws(StoreError) in
                try session.execute("INSERT INTO progress (name, value) VALUES ('a', ''), ('b', '')")
            }
            let runs = Counter()
            let signals = ["a": Signal(), "b": Signal()]
            // Each transaction locks its own row first. When both have done so, each one locks the other's row.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (mine, other) in [("a", "b"), ("b", "a")] {
                    group.addTask {
                        try await store.database.write(locking: []) { session throws(StoreError) in
                            runs.increment()
                            let sql = "UPDATE progress SET value = value || $1 WHERE name = $2"
                            try session.execute(sql, [.text(mine), .text(mine)])
                            signals[mine]?.fire()
                            signals[other]?.wait()
                            try session.execute(sql, [.text(mine), .text(other)])
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Each transaction runs once, and the one that the server aborted runs again.
            #expect(runs.value >= 3)
            let values = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT value FROM progress").map { row throws(StoreError) in try row.text(0) }
            }
            #expect(values.map { $0.sorted() } == [["a", "b"], ["a", "b"]])
        }
    }

    @Test func `concurrent transactions of two processes create each customer once`() async throws {
        let address = try freshAddress("connections=6")
        let stores = [
            try await Store(PostgresDatabase(address, waitTimeout: waitTimeout)),
            try await Store(PostgresDatabase(address, waitTimeout: waitTimeout)),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                for (index, store) in stores.enumerated() {
                    group.addTask {
                        // Each update has two identities in random order. Some of them are shared with other
                        // transactions.
                        let identities = [
                            Identity(.appTransactionID, "\(number % 12)"),
                            Identity(.originalTransactionID, "p\(number % 12)"),
                        ]
                        _ = try await store.update(
                            (number + index).isMultiple(of: 2) ? identities : identities.reversed(),
                            in: Realm(.production), at: .now
                        ) { known in
                            var update = CustomerUpdate(of: known)
                            update.add(
                                [
                                    Artifact(
                                        .receipt, bytes: [1], sha256: [UInt8(number), UInt8(index)], signedDate: nil)
                                ])
                            return (update, ())
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let customers = try await stores[0].read { try $0.customers(after: 0, limit: 1000) }
        #expect(customers.count == 12)
        for id in customers { #expect(try await stores[1].read { try $0.artifacts(of: id) }.count == 20) }
        for store in stores { try await store.close() }
    }

    @Test func `a PostgreSQL transaction with more lock keys than the maximum excludes all other writes`() async throws
    {
        try await withStore { store in
            let most = AdvisoryKeys.maximum + 1
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await store.database.write(locking: (0..<most).map { .progress("\($0)") }) {
                        session throws(StoreError) in
                        let before = try session.row("SELECT value FROM progress WHERE name = 'n'")
                        let sum = try before.map { row throws(StoreError) in try row.text(0) } ?? "0"
                        try session.execute("DELETE FROM progress WHERE name = 'n'")
                        try session.execute(
                            "INSERT INTO progress (name, value) VALUES ('n', $1)", [.text("\((Int(sum) ?? 0) + 1)")])
                    }
                }
                for number in 0..<40 {
                    group.addTask {
                        try await store.database.write(locking: [.progress("0"), .progress("x\(number)")]) {
                            session throws(StoreError) in
                            let before = try session.row("SELECT value FROM progress WHERE name = 'n'")
                            let sum = try before.map { row throws(StoreError) in try row.text(0) } ?? "0"
                            try session.execute("DELETE FROM progress WHERE name = 'n'")
                            try session.execute(
                                "INSERT INTO progress (name, value) VALUES ('n', $1)", [.text("\((Int(sum) ?? 0) + 1)")]
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sum = try await store.database.read { session throws(StoreError) in
                try session.row("SELECT value FROM progress WHERE name = 'n'")?.text(0)
            }
            #expect(sum == "41")
        }
    }
}
