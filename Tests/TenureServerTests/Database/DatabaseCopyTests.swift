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

    @Test func `moving a database keeps every byte of it, and its tokens`() async throws {
        try await withFolder { folder in
            try await DatabaseTestBed.fill(folder)
            let before = try await withService(in: folder) { client in
                try await client.sync(SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            }
            let token = try before.token
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
                let answer = try await client.customer(token)
                #expect(answer.id == before.id && answer.entitlements == before.entitlements)
            }
        }
    }

    // A token contains the customer's number, so a number must never be used twice.
    @Test func `moving a database doesn't reuse the row number of an erased customer`() async throws {
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

    @Test func `moving a database leaves nothing if it is interrupted, and succeeds the next time`() async throws {
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
