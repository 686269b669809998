import Foundation
import Testing

@testable import TenureCore

/// Which of several artifacts about the same thing counts.
@Suite struct LatestEvidenceTests {
    @Test func `support's latest action counts, and a revocation counts before a grant of the same instant`() {
        let day = date("2015-07-01")
        func kinds(_ actions: [SupportGrant]) -> [SupportGrant.Kind] {
            [actions, actions.reversed()].map {
                Calculator.evidence([], support: $0).support.first?.kind ?? .grant
            }
        }
        let grant = SupportGrant(.grant, of: "everything", date: day)
        #expect(kinds([grant, SupportGrant(.revocation, of: "everything", date: day)]) == [.revocation, .revocation])
        let earlier = SupportGrant(.revocation, of: "everything", date: day.addingTimeInterval(-1))
        #expect(kinds([grant, earlier]) == [.grant, .grant])
        // Of two grants at one instant, the longer one counts.
        let limited = SupportGrant(.grant, of: "everything", date: day, until: date("2016-01-01"))
        for actions in [[grant, limited], [limited, grant]] {
            #expect(Calculator.evidence([], support: actions).support.map(\.until) == [nil])
        }
    }

    private func purchase(
        _ id: String, bought: String, revoked: String? = nil, isUpgraded: Bool = false, signed: String,
        type: Purchase.ProductType = .nonConsumable, expires: String? = nil, product: String = Calculator.all
    ) -> Purchase {
        Purchase(
            transactionID: id, originalTransactionID: "1", productID: product, type: type,
            purchaseDate: date(bought), expiresDate: expires.map(date), revocationDate: revoked.map(date),
            isUpgraded: isUpgraded, signedDate: date(signed))
    }

    @Test func `a refund applies to other transactions of the purchase from before the refund, and to none after it`() {
        let refunded = purchase("1", bought: "2015-06-01", revoked: "2015-06-20", signed: "2015-06-30")
        for (bought, isRefunded) in [("2015-06-10", true), ("2015-06-20", true), ("2015-06-25", false)] {
            let copy = purchase("2", bought: bought, signed: "2015-06-26")
            let evidence = Calculator.evidence([], transactions: [refunded, copy])
            let found = evidence.purchases.first { $0.transactionID == "2" }?.revocationDate
            #expect((found != nil) == isRefunded, "bought on \(bought)")
        }
    }

    @Test func `an upgraded transaction stays upgraded even if a later-signed copy doesn't say so`() {
        let upgraded = purchase(
            "1", bought: "2015-06-01", isUpgraded: true, signed: "2015-06-10", type: .autoRenewable,
            expires: "2016-06-01")
        let later = purchase(
            "1", bought: "2015-06-01", signed: "2015-06-20", type: .autoRenewable, expires: "2016-06-01")
        for transactions in [[upgraded, later], [later, upgraded]] {
            let found = Calculator.evidence([], transactions: transactions).purchases
            #expect(found.map(\.isUpgraded) == [true])
            #expect(found.map(\.signedDate) == [date("2015-06-20")])
        }
    }

    @Test func `an upgraded transaction stays upgraded if the next period of another product begins after its end`() {
        let upgraded = purchase(
            "1", bought: "2015-06-01", isUpgraded: true, signed: "2015-06-10", type: .autoRenewable,
            expires: "2015-07-01")
        let later = purchase(
            "2", bought: "2015-08-01", signed: "2015-08-01", type: .autoRenewable, expires: "2015-09-01",
            product: Calculator.yearly)
        let found = Calculator.evidence([], transactions: [upgraded, later]).purchases
        #expect(found.map(\.isUpgraded) == [true, false])
    }

    @Test func `the latest-signed renewal info counts, and of two signed at once the one that grants less`() {
        func renewal(signed: String, grace: String? = nil, retry: Bool = false, product: String = "b") -> Renewal {
            Renewal(
                originalTransactionID: "1", productID: product, gracePeriodExpiresDate: grace.map { date($0) },
                isInBillingRetryPeriod: retry, signedDate: date(signed))
        }
        let pairs = [
            (renewal(signed: "2015-06-02", grace: "2015-07-05"), renewal(signed: "2015-06-01")),
            (renewal(signed: "2015-06-02"), renewal(signed: "2015-06-01", grace: "2015-07-05", retry: true)),
            (renewal(signed: "2015-06-01"), renewal(signed: "2015-06-01", grace: "2015-07-05", retry: true)),
            (
                renewal(signed: "2015-06-01", grace: "2015-07-05"),
                renewal(signed: "2015-06-01", grace: "2015-07-06", retry: true)
            ),
            (renewal(signed: "2015-06-01", retry: true), renewal(signed: "2015-06-01", product: "a")),
            (renewal(signed: "2015-06-01", product: "a"), renewal(signed: "2015-06-01", product: "b")),
        ]
        for (counting, other) in pairs {
            #expect(counting.supersedes(other) && !other.supersedes(counting), "\(counting) \(other)")
        }
    }

    @Test func `condensing receipts keeps the first and the last receipt of each month`() {
        let days = ["2015-01-01", "2015-01-10", "2015-01-31", "2015-02-05", "2015-02-06", "2015-02-07", "2015-03-01"]
        let proofs = days.map { day in
            Calculator.app("37", "2014-05-01", platform: nil, signed: day, id: .download("5"), kind: .receipt)
        }
        let kept = condensed(proofs.reversed()).compactMap(\.signedDate)
        #expect(
            kept
                == ["2015-01-01", "2015-01-31", "2015-02-05", "2015-02-07", "2015-03-01"].map { date($0) })
    }

    @Test(
        arguments: [
            (.appTransaction, [0] + Array(6..<70)), (.serverAppTransaction, [0] + Array(6..<70)), (.receipt, [0, 69]),
        ] as [(AppProof.Kind, [Int])])
    func `condensing 70 proofs of one month keeps the first and the last 64, or of receipts the first and the last`(
        kind: AppProof.Kind, kept: [Int]
    ) {
        let start = date("2015-03-02")
        let proofs = (0..<70).map { hour in
            AppProof(
                kind: kind, signedDate: start.addingTimeInterval(Double(hour) * 3600), id: .appTransaction("1"),
                originalAppVersion: "37")
        }
        #expect(condensed(Array(proofs.reversed())) == kept.map { proofs[$0] })
    }
}
