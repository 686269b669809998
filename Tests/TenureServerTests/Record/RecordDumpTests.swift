import Foundation
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the canonical dump` {
    @Test func `has a line for every row of every table, customers by their public ids`() async throws {
        try await RecordWorld.withFilledRecord { store in
            let lines = try await RecordWorld.dump(store).split(separator: "\n")
            var counts: [String: Int] = [:]
            var customers: [String] = []
            for line in lines {
                let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                let table = try #require(object["table"] as? String)
                counts[table, default: 0] += 1
                if table == "customers" { customers.append(try #require(object["public_id"] as? String)) }
                if table == "artifacts" { #expect(object["customer"] as? String == customers.last) }
            }
            #expect(customers == customers.sorted())
            #expect(customers.count > 15)
            for table in try RecordTable.all() {
                let rows = try await store.read { session throws(StoreError) in
                    try session.row("SELECT count(*) FROM \(table.name)")?.integer(0)
                }
                #expect(rows == Int64(counts[table.name] ?? 0), "\(table.name)")
            }
            #expect((counts["promises"] ?? 0) > 3 && counts["support_acts"] == 3 && counts["policies"] == 2)
        }
    }

    @Test func `is the same each time, and changes with every row`() async throws {
        try await RecordWorld.withFilledRecord { store in
            let first = try await RecordWorld.dump(store)
            #expect(try await RecordWorld.dump(store) == first)
            try await RecordWorld.execute("UPDATE support_acts SET reason = 'another' WHERE id = 1", in: store)
            #expect(try await RecordWorld.dump(store) != first)
        }
    }

    // A customer with more rows than a page, beside those with few.
    @Test func `is in the ledger's order however many rows a customer has`() async throws {
        try await RecordWorld.withFilledRecord { store in
            let realm = RecordWorld.realm
            _ = try await store.amend([Identity(.appTransactionID, "1")], in: realm, at: Calculator.now) { known in
                var amendment = Amendment(of: known)
                amendment.add(
                    (0..<100).map { Artifact(.receipt, bytes: [UInt8($0)], sha256: [UInt8($0)], signedDate: nil) })
                amendment.identify(by: (0..<100).map { Identity(.originalTransactionID, "many \($0)") })
                return (amendment, ())
            }
            let lines = try await RecordWorld.dump(store).split(separator: "\n")
            let numbers = lines.filter { $0.hasPrefix(#"{"table":"artifacts""#) && $0.contains(#""header":null"#) }
                .compactMap { $0.split(separator: #""id":"#).last?.split(separator: ",").first }.compactMap { Int($0) }
            #expect(numbers.count >= 100)
            #expect(Array(numbers.suffix(0)) == [] && Set(numbers).count == numbers.count)
            let names = lines.filter { $0.contains(#""value":"many "#) }
            #expect(names.count == 100)
            #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
    }

    @Test func `reads one state while others write`() async throws {
        try await RecordWorld.withFilledRecord { store in
            let before = try await RecordWorld.dump(store)
            let started = AsyncStream.makeStream(of: Void.self)
            let written = DispatchSemaphore(value: 0)
            let lines = Collected<[UInt8]>()
            async let dumped: Int = RecordDump(of: store).write(progress: { done, _ in
                guard done == 1 else { return }
                started.continuation.finish()
                // On the database's own queue: nobody else waits for it.
                written.wait()
            }) { lines.append($0) }
            for await _ in started.stream {}
            _ = try await store.amend(
                [Identity(.appTransactionID, "new")], in: RecordWorld.realm, at: Calculator.now
            ) { (Amendment(of: $0), ()) }
            written.signal()
            _ = try await dumped
            #expect(String(decoding: lines.all.flatMap(\.self), as: UTF8.self) == before)
            #expect(try await RecordWorld.dump(store) != before)
        }
    }
}
