public import Foundation
public import TenureAppStore
public import TenureCore
import TenurePolicyFile
import TenureStore

/// What the benchmarks of rehearsals need. For the package under `Benchmarks/` only.
@_spi(Benchmarks)
public struct RehearsalBenchmark: Sendable {
    private let policy: Policy
    private let anchors: TrustAnchors
    private let now: Date

    public init(policy: Policy, anchors: TrustAnchors, now: Date) {
        self.policy = policy
        self.anchors = anchors
        self.now = now
    }

    /// Reads and verifies lines on all cores; returns how many count.
    public func verify(_ lines: [UInt8]) async throws -> Int {
        let rehearsal = EvidenceRehearsal(
            Comparison(of: policy, at: now),
            app: AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID),
            trust: try TrustConfiguration(anchors: [.production: anchors]), now: now, purchasesAreComplete: true)
        return try await rehearsal.verify(lines).usableLines
    }

    /// Decides every customer of a database again; returns their number.
    public func redecide(recordAt path: String) async throws -> Int {
        let store = try SQLiteStore(path: path)
        let rehearsal = RecordRehearsal(
            Comparison(of: policy, at: now), environments: [.production], withTests: false)
        let customers = try await rehearsal.run(over: store).tally.customers
        try await store.close()
        return customers
    }

    /// Adds invented customers to a database until it has that many. They got the app over five years, each in one of
    /// the builds that were on sale then. A third has no purchases. They have the promises that the service would have
    /// made.
    public func fill(recordAt path: String, to count: Int) async throws {
        let store = try SQLiteStore(path: path)
        let compiled = PolicyFile.compile(policy)
        // No look-up here uses its digest.
        let version =
            try await store.record(policy: compiled, sha256: Array(repeating: 0, count: 32), at: now).last?.version ?? 1
        var next = Int(try await store.newestCustomer()) + 1
        while next <= count {
            let last = min(next + 9_999, count)
            let acts = (next...last).map { number in
                let amendment = amendment(ofCustomer: number, version: version)
                return (
                    identities: [Identity(.appTransactionID, String(704_000_000_000_000_000 + number))],
                    realm: Realm(.production), change: { @Sendable (_: Customer?) in amendment }
                )
            }
            _ = try await store.amend(acts, at: now)
            next = last + 1
        }
        try await store.close()
    }

    private func amendment(ofCustomer number: Int, version: Int64) -> Amendment {
        // Neighbors in the database did not come on one day.
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
        var amendment = Amendment(of: nil)
        amendment.add([], proving: [proof], purchases: purchases)
        amendment.completePurchases()
        let decisions = decide(amendment.facts.evidence(in: .production), under: policy, at: now)
        amendment.promise(
            decisions.flatMap { decision in
                decision.eraRights.map {
                    RecordedPromise(
                        entitlement: decision.entitlement, acquisition: $0.acquisition, policyVersion: version,
                        until: $0.until, recordedAt: now)
                }
            })
        return amendment
    }
}
