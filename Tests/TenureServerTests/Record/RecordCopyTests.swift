import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `moving a record` {
    private let summarize: RecordCopy.Summary = { session throws(StoreError) in try RecordDump.sums(in: session) }

    @Test func `keeps every byte of it, and its tokens`() async throws {
        try await withFolder { folder in
            try await RecordWorld.fill(folder)
            let token = try await withService(in: folder) { client in
                try #require(
                    try await client.sync(SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
                        .accessToken?.value)
            }
            let new = folder + "/new"
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
            for key in [AccessTokenKey.fileName, SigningKeyStore.fileName] {
                try FileManager.default.copyItem(atPath: "\(folder)/\(key)", toPath: "\(new)/\(key)")
            }
            let source = try SQLiteStore(path: folder + "/record.sqlite")
            let target = try SQLiteStore(path: new + "/record.sqlite")
            let sums = try await RecordCopy().run(from: source, to: target, summarize: summarize)
            #expect(sums["customers"]?.count ?? 0 > 15)
            #expect(try await RecordWorld.dump(target) == (try await RecordWorld.dump(source)))
            #expect(try await RecordWorld.findings(target) == [])
            try await source.close()
            try await target.close()
            try await withService(in: new) { client in
                let answer = try await client.get("/v1/customer", token: token)
                #expect(answer.status == .ok)
            }
        }
    }

    // A token names a customer by number.
    @Test func `gives nobody the number of somebody who was erased before`() async throws {
        try await RecordWorld.withFilledRecord { source in
            let realm = RecordWorld.realm
            let add = { @Sendable (store: SQLiteStore, id: String) async throws in
                try await store.amend([Identity(.appTransactionID, id)], in: realm, at: Calculator.now) {
                    (Amendment(of: $0), ())
                }.0.id
            }
            let erased = try await add(source, "erased")
            try await RecordWorld.execute("DELETE FROM identities WHERE customer = \(erased)", in: source)
            try await RecordWorld.execute("DELETE FROM customers WHERE id = \(erased)", in: source)
            try await withFolder { folder in
                let target = try SQLiteStore(path: folder + "/target.sqlite")
                _ = try await RecordCopy().run(from: source, to: target, summarize: summarize)
                let next = try await add(target, "next")
                #expect(next == erased + 1)
                try await target.close()
            }
        }
    }

    @Test func `leaves a target that holds one already`() async throws {
        try await RecordWorld.withFilledRecord { source in
            try await RecordWorld.withFilledRecord { target in
                let before = try await RecordWorld.dump(target)
                let refused = await #expect(throws: StoreError.self) {
                    try await RecordCopy().run(from: source, to: target, summarize: summarize)
                }
                guard case .notEmpty = refused else {
                    Issue.record("refused otherwise: \(String(describing: refused))")
                    return
                }
                #expect(try await RecordWorld.dump(target) == before)
            }
        }
    }

    @Test func `leaves nothing where it is interrupted, and succeeds the next time`() async throws {
        try await RecordWorld.withFilledRecord { source in
            try await withFolder { folder in
                let target = try SQLiteStore(path: folder + "/target.sqlite")
                let empty = try await RecordWorld.dump(target)
                await #expect(throws: StoreError.busy) {
                    try await RecordCopy().run(from: source, to: target) { _ throws(StoreError) in throw .busy }
                }
                #expect(try await RecordWorld.dump(target) == empty)
                // Rows that the source cannot give.
                try await RecordWorld.execute("ALTER TABLE promises RENAME TO hidden", in: source)
                await #expect(throws: StoreError.self) {
                    try await RecordCopy().run(from: source, to: target, summarize: summarize)
                }
                #expect(try await RecordWorld.dump(target) == empty)
                try await RecordWorld.execute("ALTER TABLE hidden RENAME TO promises", in: source)
                _ = try await RecordCopy().run(from: source, to: target, summarize: summarize)
                #expect(try await RecordWorld.dump(target) == (try await RecordWorld.dump(source)))
                try await target.close()
            }
        }
    }

    @Test func `refuses a copy that is not the same`() async throws {
        try await RecordWorld.withFilledRecord { source in
            try await withFolder { folder in
                let target = try SQLiteStore(path: folder + "/target.sqlite")
                let empty = try await RecordWorld.dump(target)
                try await RecordWorld.execute(
                    "CREATE TRIGGER lossy AFTER INSERT ON promises BEGIN DELETE FROM promises WHERE id = new.id; END",
                    in: target)
                let promises = try await source.read { session throws(StoreError) in
                    try session.row("SELECT count(*) FROM promises")?.integer(0) ?? 0
                }
                await #expect(throws: StoreError.movedOtherwise(table: "promises", rows: 0, expected: Int(promises))) {
                    try await RecordCopy().run(from: source, to: target, summarize: summarize)
                }
                #expect(try await RecordWorld.dump(target) == empty)
                try await target.close()
            }
        }
    }
}
