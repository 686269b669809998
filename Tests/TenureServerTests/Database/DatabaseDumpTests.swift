import Foundation
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the canonical dump` {
    @Test func `a database dump has a line for every row of every table, with public customer IDs`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let lines = try await DatabaseTestBed.dump(store).split(separator: "\n")
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
            for table in try DatabaseTable.all() {
                let rows = try await store.database.read { session throws(StoreError) in
                    try session.row("SELECT count(*) FROM \(table.name)")?.integer(0)
                }
                #expect(rows == Int64(counts[table.name] ?? 0), "\(table.name)")
            }
            #expect((counts["promises"] ?? 0) > 3 && counts["support_grants"] == 3 && counts["policies"] == 2)
        }
    }

    @Test func `a database dump is reproducible, and a changed row changes the dump`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let first = try await DatabaseTestBed.dump(store)
            #expect(try await DatabaseTestBed.dump(store) == first)
            try await DatabaseTestBed.execute("UPDATE support_grants SET reason = 'another' WHERE id = 1", in: store)
            #expect(try await DatabaseTestBed.dump(store) != first)
        }
    }

    // One customer has more rows than a page, and other customers have few rows.
    @Test func `a database dump has a fixed order for any number of rows of a customer`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let realm = DatabaseTestBed.realm
            let (customer, _) = try await store.update(
                [Identity(.appTransactionID, "1")], in: realm, at: Calculator.now
            ) { known in
                var update = CustomerUpdate(of: known)
                update.add(
                    (0..<100).map { Artifact(.receipt, bytes: [UInt8($0)], sha256: [UInt8($0)], signedDate: nil) })
                update.identify(by: (0..<100).map { Identity(.originalTransactionID, "many \($0)") })
                return (update, ())
            }
            let lines = try await DatabaseTestBed.dump(store).split(separator: "\n")
            let numbers = lines.filter { $0.hasPrefix(#"{"table":"artifacts""#) && $0.contains(customer.publicID) }
                .compactMap { $0.split(separator: #""id":"#).last?.split(separator: ",").first }.compactMap { Int($0) }
            #expect(numbers.count == 100)
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            let names = lines.filter { $0.contains(#""value":"many "#) }
            #expect(names.count == 100)
            #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
    }

    @Test func `a database dump doesn't contain rows that are written during the dump`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let before = try await DatabaseTestBed.dump(store)
            let started = AsyncStream.makeStream(of: Void.self)
            let written = DispatchSemaphore(value: 0)
            let lines = Collected<[UInt8]>()
            async let dumped: Int = DatabaseDump.write(
                of: store,
                progress: { done, _ in
                    guard done == 1 else { return }
                    started.continuation.finish()
                    // Waiting blocks only the database's queue, on which no other task waits.
                    written.wait()
                }
            ) { lines.append($0) }
            for await _ in started.stream {}
            _ = try await store.update(
                [Identity(.appTransactionID, "new")], in: DatabaseTestBed.realm, at: Calculator.now
            ) { (CustomerUpdate(of: $0), ()) }
            written.signal()
            _ = try await dumped
            #expect(String(decoding: lines.all.flatMap(\.self), as: UTF8.self) == before)
            #expect(try await DatabaseTestBed.dump(store) != before)
        }
    }
}
