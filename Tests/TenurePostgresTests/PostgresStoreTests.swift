import Foundation
import PostgresServer
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `the PostgreSQL database` {
    @Test(arguments: StoreClause.all)
    func `the PostgreSQL database passes the tests that every database must pass`(clause: StoreClause) async throws {
        try await withStore { try await clause.check($0) }
    }

    @Test func `data in PostgreSQL is found again after the database is opened again`() async throws {
        let address = try freshAddress()
        let (id, customer) = try await withStore(at: address) { ($0.databaseID, try await $0.add("a", to: "704")) }
        try await withStore(at: address) { store in
            #expect(store.databaseID == id)
            let found = try await store.lookUp(customer.id)
            #expect(found == customer)
        }
    }

    @Test func `two schemas of one PostgreSQL database keep their data separate`() async throws {
        try await withStore { one in
            try await withStore { other in
                #expect(one.databaseID != other.databaseID)
                let customer = try await one.add("a", to: "704")
                #expect(try await other.lookUp(customer.id) == nil)
                #expect(try await other.read { try $0.customers(after: 0, limit: 10) }.isEmpty)
                let second = try await other.add("b", to: "704")
                #expect(second.publicID != customer.publicID)
                #expect(try await other.read { try $0.artifacts(of: second.id) }.map(\.bytes) == [Array("b".utf8)])
                #expect(try await one.read { try $0.artifacts(of: customer.id) }.map(\.bytes) == [Array("a".utf8)])
            }
        }
    }

    @Test func `reading a customer's damaged facts from PostgreSQL is an error`() async throws {
        try await withStore { store in
            let customer = try await store.add("a", to: "704")
            _ = try await store.database.write(locking: []) { session throws(StoreError) in
                try session.execute("UPDATE customers SET facts = $1", [.blob([1, 2, 3])])
            }
            await #expect(throws: StoreError.self) { try await store.lookUp(customer.id) }
        }
    }

    @Test(arguments: [
        "realm = 77", "realm = 300", "realm = -1",
        "merged_into = (SELECT other.id FROM customers AS other WHERE other.id <> customers.id)",
    ])
    func `a damaged row in PostgreSQL is an error, never a crash`(damage: String) async throws {
        try await withStore { store in
            let customer = try await store.add("a", to: "704")
            _ = try await store.add("b", to: "705")
            _ = try await store.database.write(locking: []) { session throws(StoreError) in
                try session.execute("UPDATE customers SET \(damage)")
            }
            let error = await #expect(throws: StoreError.self) { try await store.lookUp(customer.id) }
            guard case .damaged? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a customer's damaged row in PostgreSQL fails only the look-ups of this customer`() async throws {
        try await withStore { store in
            let (sound, damaged) = (try await store.add("a", to: "1"), try await store.add("b", to: "2"))
            try await store.write {
                _ = try $0.session.execute(
                    "UPDATE customers SET facts = $1 WHERE id = $2", [.blob([1]), .integer(damaged.id)])
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        guard number.isMultiple(of: 2) else {
                            await #expect(throws: StoreError.self) { try await store.lookUp(damaged.id) }
                            return
                        }
                        let found = try? await store.lookUp(sound.id)
                        #expect(found == sound)
                    }
                }
            }
        }
    }

    @Test func `a check of a PostgreSQL database reports what isn't valid, and a disabled trigger`() async throws {
        let address = try freshAddress()
        try await withStore(at: address) { store in
            @Sendable func check(_ transaction: DatabaseTransaction) throws -> [DatabaseFinding] {
                var findings: [DatabaseFinding] = []
                try transaction.checkIntegrity { findings.append($0) }
                return findings
            }
            #expect(try await store.read { try check($0) } == [])
            let admin = try PostgresConnection(to: address, for: .transactions)
            let schema = address.schema
            try admin.run("ALTER TABLE \(schema).jobs ADD CONSTRAINT later CHECK (attempts >= 0) NOT VALID")
            try admin.run(
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = '\(schema).jobs_by_time'::regclass")
            try admin.run("ALTER TABLE \(schema).audit DISABLE TRIGGER audit_stays")
            let expected = [
                DatabaseFinding("the constraint `later` isn't valid", .restore),
                DatabaseFinding("the index `jobs_by_time` isn't valid", .reindex),
                DatabaseFinding("a trigger that keeps the audit trail append-only is missing", .restore),
            ]
            #expect(try await store.read { try check($0) } == expected)
        }
    }

    @Test func `2,000 concurrent look-ups in PostgreSQL each return the right customer`() async throws {
        try await withStore { store in
            var ids: [String: Int64] = [:]
            for number in 0..<20 { ids["\(number)"] = try await store.add("a\(number)", to: "\(number)").id }
            let known = Array(ids.values)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        let id = known[number % known.count]
                        let (found, missing) = (try await store.lookUp(id), try await store.lookUp(-id))
                        #expect(found?.id == id && missing == nil)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a blob of 40 MB is read from PostgreSQL unchanged`() async throws {
        try await withStore { store in
            var bytes = [UInt8](repeating: 0, count: 40_000_000)
            for index in stride(from: 0, to: bytes.count, by: 7) { bytes[index] = UInt8(truncatingIfNeeded: index) }
            let sent = bytes
            let returned = try await store.database.write(locking: []) { session throws(StoreError) in
                try session.execute("CREATE TABLE blobs (bytes BYTEA)")
                try session.execute("INSERT INTO blobs (bytes) VALUES ($1)", [.blob(sent)])
                return try session.row("SELECT bytes FROM blobs")?.bytes(0)
            }
            #expect(returned == sent)
        }
    }

    @Test func `a string with a NUL character for PostgreSQL is refused, not cut off`() async throws {
        try await withStore { store in
            let error = await #expect(throws: StoreError.self) { try await store.add("a", to: "70\u{0}4") }
            #expect(error?.description.contains("NUL character") == true)
            let customers = try await store.read { try $0.customers(after: 0, limit: 10) }
            #expect(customers.isEmpty)
        }
    }

    @Test func `a PostgreSQL transaction that throws changes nothing`() async throws {
        let address = try freshAddress("connections=1")
        try await withStore(at: address) { store in
            for sql in ["INSERT INTO customers (id) VALUES (1)", "SELECT 1 / 0", "no SQL at all"] {
                let error = await #expect(throws: StoreError.self) {
                    try await store.database.write(locking: [.progress("a")]) { session throws(StoreError) in
                        try session.execute("INSERT INTO progress (name, value) VALUES ('a', 'b')")
                        // The caller ignores the error. The transaction still fails, because PostgreSQL ended it.
                        _ = try? session.execute(sql)
                    }
                }
                guard case .failed? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            await #expect(throws: StoreError.damaged("so")) {
                try await store.database.write(locking: []) { session throws(StoreError) in
                    try session.execute("INSERT INTO progress (name, value) VALUES ('a', 'b')")
                    throw .damaged("so")
                }
            }
            let marks = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT * FROM progress")
            }
            #expect(marks.isEmpty)
        }
    }

    @Test func `a PostgreSQL read transaction doesn't see writes that were committed after it began`() async throws {
        try await withStore { store in
            _ = try await store.add("a", to: "1")
            let (hasRead, hasWritten) = (Signal(), Signal())
            async let counts = store.database.read { session throws(StoreError) in
                let before = try session.row("SELECT count(*) FROM customers")?.integer(0)
                hasRead.fire()
                hasWritten.wait()
                return [before, try session.row("SELECT count(*) FROM customers")?.integer(0)]
            }
            // This closure runs on a thread that may block.
            try await store.write { _ in hasRead.wait() }
            _ = try await store.add("b", to: "2")
            hasWritten.fire()
            #expect(try await counts == [1, 1])
        }
    }

    @Test func `a write in a PostgreSQL read transaction is refused`() async throws {
        try await withStore { store in
            let error = await #expect(throws: StoreError.self) {
                try await store.database.read { session throws(StoreError) in
                    try session.execute("INSERT INTO progress (name, value) VALUES ('a', 'b')")
                }
            }
            #expect(error == StoreError.defect("a transaction that only reads tried to write"))
        }
    }
}
