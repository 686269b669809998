import Foundation
import TenureCore
import Testing

@testable import TenureStore

/// The keys of plain facts. A rehearsal decides once for all customers with equal keys.
@Suite struct `plain facts` {
    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_400_000_000 + seconds) }

    private func proof(
        _ id: AcquisitionID? = .appTransaction("1"), kind: AppProof.Kind = .appTransaction, signed: Double = 0,
        platform: Platform? = .iOS, version: String? = "37", bought: Double = 0, preordered: Date? = nil,
        revoked: Date? = nil, expires: Date? = nil
    ) -> AppProof {
        AppProof(
            kind: kind, signedDate: Self.date(signed), id: id, originalPlatform: platform, originalAppVersion: version,
            originalPurchaseDate: Self.date(bought), preorderDate: preordered, revocationDate: revoked,
            expirationDate: expires)
    }

    private func purchase(
        _ id: String = "t", _ product: String = "p", type: Purchase.ProductType? = .nonConsumable, bought: Double = 0,
        expires: Date? = nil, revoked: Date? = nil, isUpgraded: Bool = false
    ) -> Purchase {
        Purchase(
            transactionID: id, productID: product, type: type, purchaseDate: Self.date(bought), expiresDate: expires,
            revocationDate: revoked, isUpgraded: isUpgraded, signedDate: Self.date(bought))
    }

    private func promise(_ entitlement: String = "e", policy: Int64 = 1, until: Date? = nil) -> StoredPromise {
        StoredPromise(
            entitlement: entitlement,
            acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
            policyVersion: policy, until: until, recordedAt: Self.date(0))
    }

    private func facts(
        _ proofs: [AppProof], _ purchases: [Purchase] = [], _ promises: [StoredPromise] = [], isComplete: Bool = false
    ) -> CustomerFacts {
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(promises)
        facts.purchasesAreComplete = isComplete
        return facts
    }

    private func key(
        _ facts: CustomerFacts, in realm: UInt8 = 0, size: Int = 4096, class: (Date?) -> UInt64 = { _ in 7 }
    ) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: size)
        let count = facts.encoded.withUnsafeBytes { bytes in
            buffer.withUnsafeMutableBytes { PlainFacts.writeKey(of: bytes, in: realm, to: $0, class: `class`) }
        }
        return count.map { Array(buffer.prefix($0)) }
    }

    @Test func `plain facts that differ only in IDs and dates have equal keys`() {
        let expected = key(facts([proof()], [purchase()]))
        #expect(expected != nil)
        let others: [CustomerFacts] = [
            facts([proof(.appTransaction("22"))], [purchase()]), facts([proof(signed: 60)], [purchase()]),
            facts([proof(bought: 60)], [purchase()]), facts([proof(.download("9"))], [purchase()]),
            facts([proof(nil)], [purchase()]), facts([proof()], [purchase("other")]),
            facts([proof()], [purchase(bought: 60)]),
            facts(
                [proof()],
                [
                    Purchase(
                        transactionID: "t", originalTransactionID: "o", productID: "p", type: .nonConsumable,
                        purchaseDate: nil, isFamilyShared: true, signedDate: nil)
                ]),
        ]
        for (index, other) in others.enumerated() { #expect(key(other) == expected, "\(index)") }
    }

    @Test func `plain facts that can lead to other decisions have different keys`() {
        let all: [CustomerFacts] = [
            facts([proof()]), facts([proof()], isComplete: true), facts([proof()], [purchase()]),
            facts([proof()], [purchase("t", "q")]), facts([proof()], [purchase(), purchase("u", "q")]),
            facts([proof(kind: .serverAppTransaction)]), facts([proof(platform: .macOS)]),
            facts([proof(platform: nil)]),
            facts([proof(version: "38")]), facts([proof(version: nil)]), facts([proof()], [], [promise()]),
            facts([proof()], [], [promise("f")]), facts([proof()], [], [promise(policy: 2)]),
            facts([proof()], [], [promise(until: Self.date(1))]), facts([proof()], [], [promise(until: Self.date(2))]),
            facts([proof()], [], [promise(), promise("f")]), facts([proof(.appTransaction("2"))], [], [promise()]),
        ]
        let keys = all.map { key($0) }
        #expect(keys.allSatisfy { $0 != nil })
        #expect(Set(keys).count == all.count)
        let plain = facts([proof()])
        #expect(key(plain, in: 1) != key(plain))
        let ofAnotherDate = key(plain) { $0 == Self.date(0) ? 8 : 7 }
        #expect(ofAnotherDate != nil)
        #expect(ofAnotherDate != key(plain))
    }

    @Test func `facts that other customers rarely share aren't plain`() {
        var granted = facts([proof()])
        granted.add(SupportGrant(.grant, of: "e", date: Self.date(0)))
        var renewed = facts([proof()])
        renewed.add([
            Renewal(
                originalTransactionID: "t", productID: "p", gracePeriodExpiresDate: nil, isInBillingRetryPeriod: false,
                signedDate: nil)
        ])
        let others: [CustomerFacts] = [
            facts([]), facts([proof(), proof(version: "38")]), facts([proof(preordered: Self.date(0))]),
            facts([proof(revoked: Self.date(0))]), facts([proof(kind: .receipt, expires: Self.date(0))]),
            facts([proof()], [purchase(type: .consumable)]), facts([proof()], [purchase(type: nil)]),
            facts([proof()], [purchase(type: .autoRenewable)]), facts([proof()], [purchase(expires: Self.date(0))]),
            facts([proof()], [purchase(revoked: Self.date(0))]), facts([proof()], [purchase(isUpgraded: true)]),
            granted,
            renewed,
        ]
        for (index, other) in others.enumerated() { #expect(key(other) == nil, "\(index)") }
    }

    @Test func `facts with too many or too long entries, or a key that doesn't fit, aren't plain`() throws {
        func purchases(_ count: Int) -> CustomerFacts { facts([proof()], (0..<count).map { purchase("\($0)") }) }
        func promises(_ count: Int) -> CustomerFacts { facts([proof()], [], (0..<count).map { promise("\($0)") }) }
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let limits: [(plain: CustomerFacts, other: CustomerFacts)] = [
            (purchases(63), purchases(64)), (promises(63), promises(64)),
            (facts([proof(version: text(254))]), facts([proof(version: text(255))])),
            (facts([proof()], [purchase("t", text(254))]), facts([proof()], [purchase("t", text(255))])),
            (facts([proof()], [], [promise(text(254))]), facts([proof()], [], [promise(text(255))])),
        ]
        for (index, limit) in limits.enumerated() {
            let size = try #require(key(limit.plain), "\(index)").count
            #expect(key(limit.plain, size: size) != nil, "\(index)")
            #expect(key(limit.plain, size: size - 1) == nil, "\(index)")
            #expect(key(limit.other) == nil, "\(index)")
        }
    }
}
