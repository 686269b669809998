import Foundation
import TenureAppStore
import TenureCore
import TenurePolicyFile
import TenureStore

@testable import TenureRehearsal

/// The two kinds of rehearsals that are measured: of lines with signed artifacts, and of a service's database.
struct RehearsalBenchmark: Sendable {
    private let policy: Policy
    private let anchors: TrustAnchors
    private let now: Date

    init(policy: Policy, anchors: TrustAnchors, now: Date) {
        self.policy = policy
        self.anchors = anchors
        self.now = now
    }

    /// Reads and verifies lines on all cores, without deciding. Returns the number of usable lines.
    func verify(_ lines: [UInt8]) async throws -> Int {
        let cache = ChainCache(
            trust: try TrustConfiguration(anchors: [.production: anchors]),
            budget: .init(burst: .greatestFiniteMagnitude, perSecond: 0))
        let app = AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID)
        let reader = LineReader(
            verifier: AppStoreVerifier(app: app, cache: cache), now: now, purchasesAreComplete: true)
        var splitter = LineSplitter()
        var position = 0
        var waiting: [LineBatch] = []
        var counts = InputCounts()
        func nextBatch() -> LineBatch? {
            while waiting.isEmpty, position < lines.count {
                let end = min(position + (256 << 10), lines.count)
                waiting = splitter.batches(adding: Array(lines[position..<end]))
                position = end
            }
            return waiting.isEmpty ? splitter.end() : waiting.removeFirst()
        }
        try await inOrder(makeNext: nextBatch, { BatchReading($0, by: reader) }, { counts.add($0.counts) })
        return counts.usableLines
    }

    /// Decides every customer of a database again; returns their number.
    func redecide(databaseAt path: String) async throws -> Int {
        let store = Store(try SQLiteDatabase(path: path))
        let rehearsal = DatabaseRehearsal(
            Comparison(of: policy, at: now), environments: [.production], includesTestAuthorities: false)
        let customers = try await rehearsal.run(over: store).tally.customers
        try await store.close()
        return customers
    }

    /// Adds invented customers to a database until it has `count`. They got the app over five years, each in a build
    /// that was on sale then. A third of them has no purchases. They have the promises that the service would have
    /// made.
    func fill(databaseAt path: String, to count: Int) async throws {
        let store = Store(try SQLiteDatabase(path: path))
        let compiled = PolicyFile.compile(policy)
        // The benchmark doesn't look up the policy by its digest, so the digest is zeros.
        let version = try await store.write(at: now, locking: [.policies]) {
            try $0.record(policy: compiled, sha256: Array(repeating: 0, count: 32))
        }
        var next = Int(try await store.read { try $0.highestCustomerRowID() }) + 1
        while next <= count {
            let last = min(next + 9_999, count)
            let updates = (next...last).map { number in
                let update = update(ofCustomer: number, version: version)
                let identity = Identity(.appTransactionID, String(704_000_000_000_000_000 + number))
                return (plan: CustomerUpdatePlan(naming: [identity], in: Realm(.production), at: now), update: update)
            }
            try await store.write(at: now, locking: updates.flatMap(\.plan.lockKeys)) { transaction in
                for (plan, update) in updates {
                    guard let found = try transaction.findCustomer(plan) else { continue }
                    _ = try transaction.save(update, of: found)
                }
            }
            next = last + 1
        }
        try await store.close()
    }

    /// - Parameter version: the version of the policy, for promises.
    private func update(ofCustomer number: Int, version: Int64) -> CustomerUpdate {
        // Customers with adjacent numbers get different dates.
        let second = (number &* 7_919_993) % 157_680_000
        let bought = Date(timeIntervalSince1970: 1_293_840_000 + Double(second))
        let month = second / 2_628_000
        let isMac = number.isMultiple(of: 5)
        let proof = AppProof(
            kind: .appTransaction, signedDate: now.addingTimeInterval(-86_400),
            id: .appTransaction(String(704_000_000_000_000_000 + number)), originalPlatform: isMac ? .macOS : .iOS,
            originalAppVersion: isMac ? "1.\(month)" : String(month * 3 + number % 3),
            originalPurchaseDate: bought)
        let product = policy.entitlements.first?.products.first?.id ?? ""
        let purchases = (0..<number % 3).map { index in
            Purchase(
                transactionID: String(410_000_000_000_000 + number * 10 + index), productID: product,
                type: .nonConsumable, purchaseDate: bought.addingTimeInterval(Double(index) * 1000), signedDate: now)
        }
        var update = CustomerUpdate(of: nil)
        update.add([], proving: [proof], purchases: purchases)
        update.completePurchases()
        let decisions = decide(update.facts.evidence(in: .production), under: policy, at: now)
        update.promise(
            decisions.flatMap { decision in
                decision.eraRights.map {
                    StoredPromise(
                        entitlement: decision.entitlement, acquisition: $0.acquisition, policyVersion: version,
                        until: $0.until, recordedAt: now)
                }
            })
        return update
    }
}
