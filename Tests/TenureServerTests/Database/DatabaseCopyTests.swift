import Foundation
import HTTPTypes
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `moving a database` {
    private let summarize: DatabaseCopy.Summary = { session throws(StoreError) in try DatabaseDump.sums(in: session) }

    @Test func `moving a database copies every row, and access tokens stay valid`() async throws {
        try await withFolder { folder in
            try await DatabaseTestBed.fill(folder)
            let customer = try await withService(in: folder) { client in
                try await client.sync(SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            }
            let new = folder + "/new"
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
            for key in [AccessTokenKey.fileName, SigningKeyStore.fileName] {
                try FileManager.default.copyItem(atPath: "\(folder)/\(key)", toPath: "\(new)/\(key)")
            }
            let source = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let target = try Store(SQLiteDatabase(path: new + "/tenure.sqlite"))
            let sums = try await DatabaseCopy().run(
                from: source.database, to: target.database, at: "b", summarize: summarize)
            #expect(sums["customers"]?.count ?? 0 > 15)
            #expect(try await DatabaseTestBed.dump(target) == (try await DatabaseTestBed.dump(source)))
            #expect(try await DatabaseTestBed.findings(target) == [])
            try await source.close()
            try await target.close()
            try await withService(in: new) { client in
                let answer = try await client.customer(try customer.token)
                #expect(answer.id == customer.id && answer.entitlements == customer.entitlements)
            }
        }
    }

    private func customer(_ id: String, in store: Store) async throws -> Customer {
        guard let found = try await store.customer(by: Identity(.appTransactionID, id), in: DatabaseTestBed.realm)
        else { throw StoreError.failed("there is no customer \(id)") }
        return found
    }

    // The older customer's row refers to a later row.
    @Test func `moving a database keeps customers merged who were merged by support`() async throws {
        try await withFolder { folder in
            try await DatabaseTestBed.fill(folder)
            let source = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let (older, newer) = ("704000000000000102", "704000000000000105")
            let (one, two) = (try await customer(older, in: source), try await customer(newer, in: source))
            #expect(one.id < two.id)
            let outcome = try await source.perform(
                RequestedChange(.merge(other: one.publicID), actor: "ada", at: Calculator.now),
                on: .publicID(two.publicID), using: Rederivation { _ in CustomerFacts() })
            guard case .done(_, isNew: true) = outcome else {
                Issue.record("not merged: \(outcome)")
                return
            }
            let target = try Store(SQLiteDatabase(path: folder + "/target.sqlite"))
            _ = try await DatabaseCopy().run(from: source.database, to: target.database, at: "b", summarize: summarize)
            let moved = try await customer(older, in: target)
            #expect(moved.id == two.id && moved.publicID == two.publicID)
            let (merged, third) = (
                try await customer(newer, in: source), try await customer("704000000000000103", in: target)
            )
            #expect(moved.facts == merged.facts && third.id != two.id)
            #expect(try await DatabaseTestBed.dump(target) == (try await DatabaseTestBed.dump(source)))
            try await source.close()
            try await target.close()
        }
    }

    // A token contains the customer's row ID, so a row ID must never be used twice.
    @Test func `moving a database doesn't reuse the row ID of an erased customer`() async throws {
        try await DatabaseTestBed.withFilledStore { source in
            let realm = DatabaseTestBed.realm
            let add = { @Sendable (store: Store, id: String) async throws in
                try await store.update([Identity(.appTransactionID, id)], in: realm, at: Calculator.now) {
                    (CustomerUpdate(of: $0), ())
                }.0.id
            }
            let erased = try await add(source, "erased")
            try await DatabaseTestBed.execute("DELETE FROM identities WHERE customer = \(erased)", in: source)
            try await DatabaseTestBed.execute("DELETE FROM customers WHERE id = \(erased)", in: source)
            try await withFolder { folder in
                let target = try Store(SQLiteDatabase(path: folder + "/target.sqlite"))
                _ = try await DatabaseCopy().run(
                    from: source.database, to: target.database, at: "b", summarize: summarize)
                let next = try await add(target, "next")
                #expect(next == erased + 1)
                try await target.close()
            }
        }
    }

    @Test func `moving a database refuses a target that contains a database`() async throws {
        try await DatabaseTestBed.withFilledStore { source in
            try await DatabaseTestBed.withFilledStore { target in
                let before = try await DatabaseTestBed.dump(target)
                let refused = await #expect(throws: StoreError.self) {
                    try await DatabaseCopy().run(
                        from: source.database, to: target.database, at: "b", summarize: summarize)
                }
                guard case .notEmpty = refused else {
                    Issue.record("refused otherwise: \(String(describing: refused))")
                    return
                }
                #expect(try await DatabaseTestBed.dump(target) == before)
            }
        }
    }

    @Test func `an interrupted move of a database leaves the target empty, and a repeated move succeeds`() async throws
    {
        try await DatabaseTestBed.withFilledStore { source in
            try await withFolder { folder in
                let target = try Store(SQLiteDatabase(path: folder + "/target.sqlite"))
                let empty = try await DatabaseTestBed.dump(target)
                await #expect(throws: StoreError.busy) {
                    try await DatabaseCopy().run(from: source.database, to: target.database, at: "b") {
                        _ throws(StoreError) in
                        throw .busy
                    }
                }
                #expect(try await DatabaseTestBed.dump(target) == empty)
                // The source fails while it reads these rows.
                try await DatabaseTestBed.execute("ALTER TABLE promises RENAME TO hidden", in: source)
                await #expect(throws: StoreError.self) {
                    try await DatabaseCopy().run(
                        from: source.database, to: target.database, at: "b", summarize: summarize)
                }
                #expect(try await DatabaseTestBed.dump(target) == empty)
                try await DatabaseTestBed.execute("ALTER TABLE hidden RENAME TO promises", in: source)
                _ = try await DatabaseCopy().run(
                    from: source.database, to: target.database, at: "b", summarize: summarize)
                #expect(try await DatabaseTestBed.dump(target) == (try await DatabaseTestBed.dump(source)))
                try await target.close()
            }
        }
    }

    @Test func `moving a database fails if the copy differs from the source`() async throws {
        try await DatabaseTestBed.withFilledStore { source in
            try await withFolder { folder in
                let target = try Store(SQLiteDatabase(path: folder + "/target.sqlite"))
                let empty = try await DatabaseTestBed.dump(target)
                try await DatabaseTestBed.execute(
                    "CREATE TRIGGER lossy AFTER INSERT ON promises BEGIN DELETE FROM promises WHERE id = new.id; END",
                    in: target)
                let promises = try await source.database.read { session throws(StoreError) in
                    try session.row("SELECT count(*) FROM promises")?.integer(0) ?? 0
                }
                await #expect(throws: StoreError.copyDiffers(table: "promises", rows: 0, expected: Int(promises))) {
                    try await DatabaseCopy().run(
                        from: source.database, to: target.database, at: "b", summarize: summarize)
                }
                #expect(try await DatabaseTestBed.dump(target) == empty)
                try await target.close()
            }
        }
    }
}
