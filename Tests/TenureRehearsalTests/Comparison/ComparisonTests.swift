import Foundation
import TenureCore
import Testing

@testable import TenureRehearsal

struct ComparisonTests {
    private func buyer(build: String?, date: String? = "2014-05-01") -> Evidence {
        Evidence(
            environment: .production, app: [Population.appTransaction(version: build, bought: date)],
            purchasesAreComplete: true)
    }

    private func changes(of evidence: Evidence, promises: [Promise] = [], keeping: [Promise]? = nil) throws
        -> [String: Change]
    {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100", honors: true, alsoNames: "themes"),
            against: try Population.policy(freeFrom: "120", alsoNames: "printing"), at: Population.now)
        let effects = comparison.effects(on: evidence, promises: promises, keeping: keeping)
        return Dictionary(
            uniqueKeysWithValues: effects.compactMap { effect in
                effect.change.map { (effect.entitlement, $0) }
            })
    }

    @Test func `in a rehearsal, a right that only the old policy gives is a loss`() throws {
        let changes = try changes(of: buyer(build: "110"))
        #expect(changes["everything"] == .loses)
        #expect(changes["printing"] == .loses)
        // The old policy doesn't have this entitlement, so it isn't a loss.
        #expect(changes["themes"] == .changesReason)
    }

    @Test func `a rehearsal counts no loss for a right that both policies give, and a gain for a new right`() throws {
        let changes = try changes(of: buyer(build: "37"))
        #expect(changes["everything"] == .same)
        #expect(changes["themes"] == .gains)
        #expect(changes["printing"] == .loses)
    }

    @Test func `a promise keeps a right that a moved boundary takes, unless the publication ends the promise`() throws {
        let old = try Population.policy(freeFrom: "120", alsoNames: "printing")
        let promise = Promise(
            entitlement: "everything",
            acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
            policy: old, until: nil)
        #expect(try changes(of: buyer(build: "110"), promises: [promise])["everything"] == .changesReason)
        #expect(try changes(of: buyer(build: "110"), promises: [promise], keeping: [])["everything"] == .loses)
    }

    @Test func `losses if promises end count only rights that the former policy gives without a promise`() throws {
        let promise = Promise(
            entitlement: "everything",
            acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
            policy: try Population.policy(freeFrom: "120"), until: nil)
        for (former, isLost) in [("120", true), ("100", false)] {
            let comparison = Comparison(
                of: try Population.policy(freeFrom: "90"), against: try Population.policy(freeFrom: former),
                at: Population.now)
            let customerEffects = comparison.customerEffects(on: buyer(build: "110"), promises: [promise])
            #expect(customerEffects.ifPromisesEnd.contains { $0.change == .loses } == isLost)
            #expect(!customerEffects.losesDespitePromises)
        }
    }

    @Test func `a rollback keeps the rights of the promises that it restores, in addition to other promises`() throws {
        func promise(of entitlement: String) throws -> Promise {
            Promise(
                entitlement: entitlement,
                acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
                policy: try Population.policy(freeFrom: "120", alsoNames: "themes"), until: nil)
        }
        // The policy in effect grants both entitlements, and the policy of the rollback grants neither of them.
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100", alsoNames: "themes"),
            against: try Population.policy(freeFrom: "120", alsoNames: "themes"), at: Population.now)
        func losses(restoring restored: [Promise]) throws -> [String] {
            try comparison.customerEffects(
                on: buyer(build: "110"), promises: [promise(of: "everything")], restored: restored
            ).ifPromisesAreKept.filter { $0.change == .loses }.map(\.entitlement)
        }
        #expect(try losses(restoring: []) == ["themes"])
        #expect(try losses(restoring: [promise(of: "themes")]) == [])
    }

    private static func policy(_ buildNumbers: Policy.BuildNumbers) throws -> Policy {
        try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "free", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: Population.date("2015-06-10"))],
                    changeover: .window(from: -86_400, until: 2 * 86_400)),
            ],
            buildNumbers: buildNumbers,
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
    }

    @Test func `a rehearsal counts contradicting proofs under the new policy, and not under the old policy`() throws {
        let late = Population.appTransaction(bought: "2015-12-01")
        for (new, old, count) in [
            (Policy.BuildNumbers.increasing, Policy.BuildNumbers.restarted, 1), (.restarted, .increasing, 0),
        ] {
            let comparison = Comparison(of: try Self.policy(new), against: try Self.policy(old), at: Population.now)
            var tally = Tally(for: comparison)
            comparison.count(Evidence(environment: .production, app: [late]), id: "1", in: &tally)
            #expect(tally.contradicting == count)
        }
    }

    @Test func `proofs of a test environment don't contradict each other, because no era depends on them`() throws {
        let comparison = Comparison(of: try Self.policy(.increasing), at: Population.now)
        let late = Population.appTransaction(bought: "2015-12-01")
        for (environment, count) in [(AppStoreEnvironment.production, 1), (.sandbox, 0), (.xcode, 0)] {
            var tally = Tally(for: comparison)
            comparison.count(Evidence(environment: environment, app: [late]), id: "1", in: &tally)
            #expect(tally.contradicting == count, "\(environment)")
        }
    }

    @Test(arguments: [
        (Answer(.granted, reason: .eraHonored), Answer(.undetermined, reason: .inDoubt), Change.loses),
        (Answer(.undetermined, reason: .inDoubt), Answer(.granted, reason: .eraHonored), .gains),
        (Answer(.undetermined, reason: .inDoubt), Answer(.denied, reason: .eraNotHonored), .changesOutcome),
        (Answer(.granted, reason: .eraHonored), Answer(.granted, reason: .product), .changesReason),
        (Answer(.granted, reason: .product), Answer(.granted, until: Population.now, reason: .product), .loses),
        (Answer(.granted, until: Population.now, reason: .product), Answer(.granted, reason: .product), .gains),
        (Answer(.denied, reason: .noPurchase), Answer(.denied, reason: .noPurchase), .same),
    ])
    func `in a rehearsal, a grant that becomes undetermined or ends earlier is a loss`(
        before: Answer, now: Answer, change: Change
    ) {
        #expect(Change(from: before, to: now) == change)
    }

    @Test func `a rehearsal without an old policy counts no gains and no losses`() throws {
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        let effects = comparison.effects(on: buyer(build: "37"))
        #expect(effects.map(\.entitlement) == ["everything", "cloud"])
        #expect(effects.allSatisfy { $0.change == nil })
    }

    @Test(arguments: [false, true])
    func `a lost right names the product that was removed, also in the grace period of a subscription`(
        isInGracePeriod: Bool
    ) throws {
        let purchase = Purchase(
            transactionID: "1", productID: "yearly", type: .autoRenewable, purchaseDate: Population.date("2014-12-25"),
            expiresDate: Population.date(isInGracePeriod ? "2015-12-25" : "2016-02-01"), signedDate: Population.now)
        let renewal = Renewal(
            originalTransactionID: "1", productID: "yearly",
            gracePeriodExpiresDate: isInGracePeriod ? Population.date("2016-01-10") : nil,
            isInBillingRetryPeriod: isInGracePeriod, signedDate: Population.now)
        let evidence = Evidence(
            environment: .production, app: [Population.appTransaction()], transactions: [purchase],
            renewals: [renewal], purchasesAreComplete: true)
        func policy(listing product: String) throws -> Policy {
            try Policy(
                app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
                eras: [Era(name: "free", model: .free)], buildNumbers: .increasing,
                entitlements: [Entitlement(name: "cloud", products: [.init(id: product)])])
        }
        func effect(of product: String) throws -> Effect? {
            Comparison(
                of: try policy(listing: product), against: try policy(listing: "yearly"), at: Population.now
            ).effects(on: evidence).first
        }
        let lost = try #require(try effect(of: "lifetime"))
        let reason: Reason.Code = isInGracePeriod ? .gracePeriod : .product
        #expect(lost.before?.reason == reason)
        #expect(lost.change == .loses && lost.removedProduct == "yearly")
        let kept = try #require(try effect(of: "yearly"))
        #expect(kept.change == .same && kept.removedProduct == nil)
    }
}
