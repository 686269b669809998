import Foundation
import StoreContract
import Synchronization
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `facts that are derived from stored artifacts` {
    @Test func `facts that are derived again from a customer's artifacts equal the stored facts`()
        async throws
    {
        try await withFolder { folder in
            try await withService(in: folder) { client in
                try await DatabaseTestBed.sync(6, through: client)
                _ = try await client.sync(SyncRequest(receipt: try Calculator.receipts().text()))
            }
            // Under this stricter policy, only promises keep the rights.
            try await withService(in: folder, policy: try Calculator.policy(honors: nil)) { client in
                for number in 0..<3 {
                    let appTransaction = try Calculator.minter().text(
                        .appTransaction, ["appTransactionId": .string("70400000000000010\(number)")])
                    _ = try await client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
                }
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let customers = try await store.read { try $0.customers(after: 0, limit: 1000) }
            #expect(customers.count > 10)
            let derivation = try Self.derivation()
            for customer in customers {
                let known = try await store.lookUp(customer)
                let rederived = try await store.rebuild(customer) { rows throws(StoreError) in
                    try derivation.facts(of: rows)
                }
                #expect(rederived?.hasChanged == false)
                #expect(rederived?.customer == known)
            }
            try await store.close()
        }
    }

    @Test
    func `if an artifact was changed in the database, deriving the facts again is an error that names the artifact`()
        async throws
    {
        try await withFolder { folder in
            try await withService(in: folder) { client in
                _ = try await client.sync(SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            _ = try await store.database.write(locking: []) { session throws(StoreError) in
                try session.execute("UPDATE artifacts SET bytes = $1", [.blob(Array(".e30.AAAA".utf8))])
            }
            let derivation = try Self.derivation()
            let error = await #expect(throws: StoreError.self) {
                try await store.rebuild(1) { rows throws(StoreError) in try derivation.facts(of: rows) }
            }
            #expect(error?.description.contains("artifact 1 (appTransaction) of cus_") == true)
            try await store.close()
        }
    }

    @Test func `facts that are derived again keep what an app transaction from the App Store's server proves`()
        async throws
    {
        let (transaction, period) = (try ServerSigned.transaction("1001"), try ServerSigned.period())
        let (renewal, appTransaction) = (try ServerSigned.renewal(), try ServerSigned.appTransaction())
        try await withAppStore { asking in
            await asking.appStore.put(.production) { contents in
                contents.histories = [(["1001"], [transaction, period])]
                contents.statuses = ["1001": ServerSigned.statuses(period, renewal)]
                contents.appTransactions = ["1001": appTransaction]
            }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: .transaction("1001"))
            try await withFolder { folder in
                let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
                let (customer, _) = try await store.update(
                    history.proven.identities, in: try #require(history.realm), at: Calculator.now, adding: history.size
                ) { known -> (CustomerUpdate, Void) in
                    var update = CustomerUpdate(of: known)
                    history.add(to: &update, of: nil)
                    return (update, ())
                }
                #expect(customer.facts.proofs.map(\.kind) == [.serverAppTransaction])
                let derivation = try Self.derivation()
                let rederived = try await store.rebuild(customer.id) { rows throws(StoreError) in
                    try derivation.facts(of: rows)
                }
                #expect(rederived?.customer.facts.proofs == customer.facts.proofs)
                try await store.close()
            }
        }
    }

    // Transactions name the account (`appTransactionId`) only since 2025.
    @Test func `a transaction with an app transaction ID merges the app transaction's and the purchase's customers`()
        async throws
    {
        try await withService { client in
            let id = "704000000000000009"
            let minter = Calculator.minter()
            let alone = try await client.sync(
                SyncRequest(transactions: [
                    try minter.text(
                        .transaction,
                        [
                            "transactionId": .string("77"), "originalTransactionId": .string("77"),
                            "appTransactionId": .null,
                        ])
                ]))
            let appTransaction = try minter.text(.appTransaction, ["appTransactionId": .string(id)])
            let app = try await client.sync(SyncRequest(appTransaction: appTransaction))
            #expect(app.id != alone.id)
            let both = try await client.sync(
                SyncRequest(appTransaction: appTransaction, transactions: [try minter.transaction("77", of: id)]))
            #expect(both.id == app.id)
            // The first customer's access token now opens the merged customer.
            let token = try #require(alone.accessToken?.value)
            #expect(try await client.customer(token).id == app.id)
        }
    }

    /// Returns how many entries are read to derive facts from this number of transactions: in one update, and in a
    /// rebuild page by page.
    private func entriesLookedAt(for transactions: Int) async throws -> (derivation: Int, rederivation: Int) {
        try await withFolder { folder in
            try await withService(in: folder) { client in
                let (minter, id) = (Calculator.minter(), "704000000000000021")
                let appTransaction = try minter.text(.appTransaction, ["appTransactionId": .string(id)])
                let texts = try (0..<transactions).map { try minter.transaction("\(10_000 + $0)", of: id) }
                _ = try await client.sync(SyncRequest(appTransaction: appTransaction, transactions: texts))
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let rows = try #require(try await store.read { try $0.rows(of: 1) })
            let derivation = try Self.derivation()
            let entries = Mutex(0)
            let first = try await CustomerFacts.$entryCounter.withValue({ count in entries.withLock { $0 += count } }) {
                #expect(try derivation.facts(of: rows).purchases.count == transactions)
                let first = entries.withLock { $0 }
                let proven = try await derivation.rederivation(of: .publicID(rows.customer.publicID), in: store)
                    .provenFacts
                #expect(proven[1]?.facts.purchases.count == transactions)
                return first
            }
            try await store.close()
            return (first, entries.withLock { $0 } - first)
        }
    }

    @Test func `deriving facts from four times as many artifacts reads at most four times as many entries`()
        async throws
    {
        let (few, many) = (try await entriesLookedAt(for: 250), try await entriesLookedAt(for: 1000))
        #expect(few.derivation >= 250 && few.rederivation >= 250)
        #expect(many.derivation <= 4 * few.derivation, "\(few) \(many)")
        #expect(many.rederivation <= 4 * few.rederivation, "\(few) \(many)")
    }

    private static func derivation() throws -> Derivation {
        let policy = try Calculator.policy()
        return Derivation(
            verifier: AppStoreVerifier(
                app: AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID),
                trust: try TrustConfiguration(anchors: [
                    .production: try Calculator.authority.anchors, .sandbox: try Calculator.authority.anchors,
                ])))
    }
}
