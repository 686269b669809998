import Foundation
import Testing

@testable import TenureCore

/// The instants at which rights end, and rights with several ends.
@Suite struct EndRuleTests {
    private let newcomer = Calculator.app("130", "2015-06-20")
    private let owner = Calculator.app("37", "2014-05-01")

    @Test func `every right has ended at the instant of its end, and still holds just before`() throws {
        let end = date("2015-08-01")
        let policy = try Calculator.policy(honors: [Honor(era: "paid", until: end)])
        let promise = Promise(
            entitlement: "everything", acquisition: AcquisitionKey(of: newcomer), policy: policy, until: end)
        let subscription = Purchase(
            transactionID: "1", productID: Calculator.yearly, type: .autoRenewable, purchaseDate: date("2015-07-01"),
            expiresDate: end, signedDate: date("2015-07-01"))
        let license = Calculator.app(
            "37", "2014-05-01", platform: nil, id: .download("5"), kind: .receipt, expires: "2015-08-01")
        let rights: [(name: String, evidence: Evidence, promises: [Promise], policy: Policy)] = [
            ("honor", Calculator.evidence([owner]), [], policy),
            ("promise", Calculator.evidence([newcomer]), [promise], try Calculator.policy(honors: [])),
            ("subscription", Calculator.evidence([newcomer], transactions: [subscription]), [], policy),
            (
                "support",
                Calculator.evidence(
                    [newcomer],
                    support: [SupportGrant(.grant, of: "everything", date: date("2015-07-01"), until: end)]), [], policy
            ),
            ("license", Calculator.evidence([license]), [], try Calculator.policy()),
        ]
        for right in rights {
            func decision(at now: Date) throws -> Decision {
                try Calculator.decide(right.evidence, promises: right.promises, under: right.policy, at: now)
            }
            let before = try decision(at: end.addingTimeInterval(-1))
            #expect(before.outcome == .granted && before.until == end, "\(right.name)")
            #expect(try decision(at: end).outcome == .denied, "\(right.name)")
        }
    }

    @Test func `an honor with a length and a date ends at the earlier of the two`() throws {
        for (until, end) in [("2016-01-01", "2016-01-01"), ("2017-01-01", "2016-06-10T18:00:00Z")] {
            let honor = Honor(era: "paid", length: CalendarPeriod(months: 12), until: date(until))
            let decision = try Calculator.decide(
                Calculator.evidence([owner]), under: try Calculator.policy(honors: [honor]))
            #expect(decision.outcome == .granted && decision.until == date(end))
        }
    }

    @Test func `an honor ends at its date, even if the end of its length is unknown`() throws {
        let policy = try Calculator.policy(
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: nil)]),
            ],
            honors: [Honor(era: "paid", length: CalendarPeriod(months: 12), until: date("2016-01-01"))])
        func decision(at now: String) throws -> Decision {
            try Calculator.decide(Calculator.evidence([owner]), under: policy, at: date(now))
        }
        #expect(try decision(at: "2015-12-31").outcome == .undetermined)
        let ended = try decision(at: "2016-01-01")
        #expect(ended.outcome == .denied && ended.findings.first == .honorEnded(era: 0, at: date("2016-01-01")))
    }

    @Test func `a refund announced for a later date ends the app's and a purchase's right at that date`() throws {
        let refund = date("2015-08-01")
        let refunded = Calculator.app("37", "2014-05-01", signed: "2015-06-30", revoked: "2015-08-01")
        let app = try Calculator.decide(Calculator.evidence([refunded]), under: try Calculator.policy())
        #expect(app.outcome == .granted && app.until == refund)
        let purchase = Purchase(
            transactionID: "1", productID: Calculator.all, type: .nonConsumable, purchaseDate: date("2015-06-25"),
            revocationDate: refund, signedDate: date("2015-06-30"))
        let bought = try Calculator.decide(
            Calculator.evidence([newcomer], transactions: [purchase]), under: try Calculator.policy())
        #expect(bought.outcome == .granted && bought.until == refund)
    }

    @Test func `an app transaction signed before a refund doesn't restore the right that the refund ended`() throws {
        let refunded = Calculator.app("37", "2014-05-01", signed: "2014-05-15", revoked: "2014-06-01")
        let between = Calculator.app("37", "2014-05-01", signed: "2014-05-20")
        let decision = try Calculator.decide(
            Calculator.evidence([refunded, between]), under: try Calculator.policy())
        #expect(decision.outcome == .denied)
    }

    @Test func `a customer who buys again after a refund isn't honored if the honor's purchase window is over`() throws
    {
        let refunded = Calculator.app("37", "2014-05-01", signed: "2014-06-02", revoked: "2014-06-01")
        let later = Calculator.app("37", "2014-05-01", signed: "2017-01-01")
        func outcome(_ honors: Honor...) throws -> Decision.Outcome {
            try Calculator.decide(
                Calculator.evidence([refunded, later]), under: try Calculator.policy(honors: honors),
                at: date("2017-01-02")
            ).outcome
        }
        #expect(try outcome(Honor(era: "paid", boughtBefore: date("2014-06-10"))) == .undetermined)
        #expect(try outcome(Honor(era: "paid", boughtBefore: date("2014-06-01"))) == .denied)
        let first = Honor(era: "paid", boughtBefore: date("2014-05-10"))
        #expect(try outcome(first, Honor(era: "paid", boughtSince: date("2015-06-01"))) == .undetermined)
        #expect(try outcome(first, Honor(era: "paid", boughtSince: date("2015-06-11"))) == .denied)
    }

    @Test func `a grant counts as promised only if the promise lasts at least as long`() throws {
        let generous = try Calculator.policy()
        for (until, isPromised) in [(date("2016-01-01"), false), (nil, true)] as [(Date?, Bool)] {
            let promise = Promise(
                entitlement: "everything", acquisition: AcquisitionKey(of: owner), policy: generous, until: until)
            let decision = try Calculator.decide(
                Calculator.evidence([owner]), promises: [promise], under: generous)
            #expect(decision.outcome == .granted && decision.until == nil)
            #expect(decision.isPromised == isPromised)
        }
    }
}
