import Foundation
import TenureCore
import Testing

@testable import TenureStore

private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_700_000_000 + seconds) }

/// A period of the subscription `o`. All dates are seconds after one instant.
private func period(
    _ id: String = "t", _ product: String = "p", signed: Double, bought: Double = 0, expires: Double,
    refunded: Double? = nil, isUpgraded: Bool = false
) -> Purchase {
    Purchase(
        transactionID: id, originalTransactionID: "o", productID: product, type: .autoRenewable,
        purchaseDate: date(bought), expiresDate: date(expires), revocationDate: refunded.map { date($0) },
        isUpgraded: isUpgraded, signedDate: date(signed))
}

private func renewal(_ id: String = "o", signed: Double, grace: Double?) -> Renewal {
    Renewal(
        originalTransactionID: id, productID: "p", gracePeriodExpiresDate: grace.map { date($0) },
        isInBillingRetryPeriod: true, signedDate: date(signed))
}

private func receipt(signed: Double, expires: Double?) -> AppProof {
    AppProof(
        kind: .receipt, signedDate: date(signed), id: .download("5"), expirationDate: expires.map { date($0) })
}

/// What an unbound customer may use, limited by what is known about the customers whom its artifacts name.
@Suite struct `the limits of an unbound customer` {
    private func facts(
        _ proofs: [AppProof] = [], _ purchases: [Purchase] = [], _ renewals: [Renewal] = []
    ) -> CustomerFacts {
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
        return facts
    }

    @Test(arguments: [
        (period(signed: 20, expires: 30), period(signed: 10, expires: 30)),
        (period(signed: 20, expires: 90), period(signed: 10, expires: 60)),
        (period(signed: 20, expires: 60, refunded: 15), period(signed: 10, expires: 60, refunded: 15)),
        (period(signed: 20, expires: 60, isUpgraded: true), period(signed: 10, expires: 60, isUpgraded: true)),
        (period(signed: 5, expires: 30, refunded: 3), period(signed: 10, expires: 60)),
        (period("other", signed: 20, expires: 30, refunded: 15), period(signed: 10, expires: 60)),
    ])
    func `a later state of a transaction limits an unbound customer's purchase, and never extends it`(
        known: Purchase, expected: Purchase
    ) {
        let unbound = facts([], [period(signed: 10, expires: 60)])
        #expect(unbound.limited(by: [facts([], [known])], in: .production).purchases == [expected])
    }

    @Test(
        arguments: [
            (renewal(signed: 20, grace: 50), 50), (renewal(signed: 20, grace: nil), nil),
            (renewal(signed: 20, grace: 150), 100), (renewal(signed: 5, grace: 50), 100),
            (renewal("other", signed: 20, grace: 50), 100),
        ] as [(Renewal, Double?)])
    func `later renewal info limits an unbound customer's grace period, and never extends it`(
        known: Renewal, expected: Double?
    ) {
        let unbound = facts([], [], [renewal(signed: 10, grace: 100)])
        let limited = unbound.limited(by: [facts([], [], [known])], in: .production)
        #expect(limited.renewals == [renewal(signed: 10, grace: expected)])
    }

    @Test(
        arguments: [
            (period(signed: 25, bought: 20, expires: 80), 80), (period(signed: 25, bought: 20, expires: 120), 100),
            (period(signed: 25, bought: 20, expires: 80, refunded: 22), nil),
            (period(signed: 25, bought: 20, expires: 80, isUpgraded: true), nil),
            (period("t", "other", signed: 25, bought: 20, expires: 80), nil),
            // The renewal info was signed after this state of the period.
            (period(signed: 5, bought: 4, expires: 80), 100),
        ] as [(Purchase, Double?)])
    func `a later period limits the grace period before it, which an unbound customer sent`(
        known: Purchase, expected: Double?
    ) {
        let unbound = facts([], [], [renewal(signed: 10, grace: 100)])
        let limited = unbound.limited(by: [facts([], [known])], in: .production)
        #expect(limited.renewals == [renewal(signed: 10, grace: expected)])
    }

    @Test(
        arguments: [
            (receipt(signed: 20, expires: 50), nil, true), (receipt(signed: 20, expires: 50), 60, true),
            (receipt(signed: 20, expires: 50), 40, false), (receipt(signed: 5, expires: 50), nil, false),
            (receipt(signed: 20, expires: nil), nil, false),
        ] as [(AppProof, Double?, Bool)])
    func `a later receipt with an earlier end of the license limits an unbound customer's receipt`(
        known: AppProof, sentEnd: Double?, isLimited: Bool
    ) {
        let sent = receipt(signed: 10, expires: sentEnd)
        let limited = facts([sent]).limited(by: [facts([known])], in: .production)
        #expect(limited.proofs == (isLimited ? [sent, known] : [sent]))
    }

    @Test func `an unbound customer gets the revocations and own promises of the named customers, and nothing more`() {
        func promise(_ id: String) -> StoredPromise {
            StoredPromise(
                entitlement: "everything",
                acquisition: AcquisitionKey(appTransactionID: id, downloadID: nil, originalPurchaseDate: nil),
                policyVersion: 1, until: nil, recordedAt: date(0))
        }
        func revocation(_ entitlement: String, _ seconds: Double) -> SupportGrant {
            SupportGrant(.revocation, of: entitlement, date: date(seconds))
        }
        var known = facts([], [period(signed: 20, expires: 60)], [renewal(signed: 20, grace: 100)])
        known.purchasesAreComplete = true
        known.add([promise("1"), promise("2")])
        known.add(revocation("revoked", 1))
        known.add(SupportGrant(.grant, of: "granted", date: date(2)))
        known.add(revocation("restored", 3))
        known.add(SupportGrant(.grant, of: "restored", date: date(4)))
        let proof = AppProof(kind: .appTransaction, signedDate: date(10), id: .appTransaction("1"))
        var unbound = facts([proof])
        unbound.isUnbound = true
        unbound.add(revocation("own", 5))
        let limited = unbound.limited(by: [known], in: .production)
        #expect(limited.promises == [promise("1")])
        #expect(limited.support == [revocation("revoked", 1), revocation("own", 5)])
        #expect(limited.purchases.isEmpty)
        #expect(limited.renewals.isEmpty)
        #expect(limited.proofs == [proof])
        #expect(!limited.purchasesAreComplete)
        #expect(limited.isUnbound)
    }

    @Test(
        arguments: [
            (
                [
                    period("t", signed: 25, bought: 20, expires: 80),
                    period("u", signed: 45, bought: 40, expires: 95, refunded: 50),
                ], nil
            ),
            (
                [
                    period("u", signed: 25, bought: 20, expires: 80),
                    period("t", signed: 45, bought: 40, expires: 95, refunded: 50),
                ], nil
            ),
            (
                [
                    period("t", signed: 25, bought: 20, expires: 80, refunded: 30),
                    period("u", signed: 45, bought: 40, expires: 95),
                ], 95
            ),
            (
                [
                    period("u", signed: 25, bought: 20, expires: 80, refunded: 30),
                    period("t", signed: 45, bought: 40, expires: 95),
                ], 95
            ),
        ] as [([Purchase], Double?)])
    func `of several later periods, the one that began last limits an unbound customer's grace period`(
        known: [Purchase], expected: Double?
    ) {
        let unbound = facts([], [], [renewal(signed: 10, grace: 100)])
        let limited = unbound.limited(by: [facts([], known)], in: .production)
        #expect(limited.renewals == [renewal(signed: 10, grace: expected)])
    }

    @Test(arguments: [(20, 100), (5, nil)] as [(Double, Double?)])
    func `a later period limits the grace period only if the unbound customer didn't send it`(
        sent: Double, expected: Double?
    ) {
        let unbound = facts(
            [], [period("s", signed: 22, bought: sent, expires: 80)], [renewal(signed: 10, grace: 100)])
        let known = facts([], [period("t", signed: 25, bought: 20, expires: 80, refunded: 22)])
        let limited = unbound.limited(by: [known], in: .production)
        #expect(limited.renewals == [renewal(signed: 10, grace: expected)])
    }

    @Test(
        arguments: [
            ([receipt(signed: 20, expires: 50), receipt(signed: 30, expires: nil)], nil),
            ([receipt(signed: 20, expires: 50), receipt(signed: 30, expires: 70)], 1),
            ([receipt(signed: 20, expires: 70), receipt(signed: 30, expires: 50)], 1),
        ] as [([AppProof], Int?)])
    func `of several later receipts, the one that was signed last limits an unbound customer's license`(
        known: [AppProof], limiting: Int?
    ) {
        let sent = receipt(signed: 10, expires: nil)
        let limited = facts([sent]).limited(by: [facts(known)], in: .production)
        #expect(limited.proofs == [sent] + (limiting.map { [known[$0]] } ?? []))
    }

    @Test func `an unbound customer's latest receipt isn't limited by an earlier one, nor by other artifacts`() {
        let sent = facts([receipt(signed: 10, expires: nil), receipt(signed: 40, expires: nil)])
        let earlier = facts([receipt(signed: 20, expires: 50)])
        #expect(sent.limited(by: [earlier], in: .production).proofs == sent.proofs)
        let other = AppProof(
            kind: .appTransaction, signedDate: date(50), id: .download("5"), expirationDate: date(60))
        #expect(sent.limited(by: [facts([other])], in: .production).proofs == sent.proofs)
    }

    @Test func `each of the named customers limits an unbound customer`() {
        var (first, second, third) = (facts(), facts([], [period(signed: 20, expires: 60, refunded: 15)]), facts())
        first.add(SupportGrant(.revocation, of: "first", date: date(1)))
        third.add(SupportGrant(.revocation, of: "third", date: date(2)))
        let unbound = facts([], [period(signed: 10, expires: 60)])
        let limited = unbound.limited(by: [first, second, third], in: .production)
        #expect(limited.support.map(\.entitlement) == ["first", "third"])
        #expect(limited.purchases == [period(signed: 10, expires: 60, refunded: 15)])
        second = facts()
        #expect(unbound.limited(by: [first, second, third], in: .production).purchases == unbound.purchases)
    }
}
