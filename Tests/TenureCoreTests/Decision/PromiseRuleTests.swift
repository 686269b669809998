import Foundation
import Testing

@testable import TenureCore

/// The rules for promises.
@Suite struct PromiseRuleTests {
    private let proof = Calculator.app("37", "2014-05-01")
    private let generous: Policy
    private let strict: Policy

    init() throws {
        generous = try Calculator.policy()
        strict = try Calculator.policy(honors: [])
    }

    private func promise() throws -> Promise {
        let right = try #require(Calculator.decide(Calculator.evidence([proof]), under: generous).eraRights.first)
        return Promise(
            entitlement: "everything", acquisition: right.acquisition, policy: generous, until: right.until)
    }

    @Test func `a promise keeps a right after edits of the policy, even after an entitlement was renamed`() throws {
        let kept = try Calculator.decide(Calculator.evidence([proof]), promises: [promise()], under: strict)
        #expect(kept.outcome == .granted && kept.findings.first == .promise(until: nil))
        let renamed = try Policy(
            app: strict.app, eras: strict.eras, buildNumbers: .increasing, entitlements: [Entitlement(name: "all")])
        let decisions = TenureCore.decide(
            Calculator.evidence([proof]), promises: [try promise()], under: renamed, at: Calculator.now)
        #expect(decisions.map(\.entitlement) == ["all", "everything"])
        #expect(decisions.map(\.outcome) == [.denied, .granted])
    }

    @Test func `a refund ends the promises of the refunded acquisition, and no other promises`() throws {
        let refunded = Calculator.app("37", "2014-05-01", signed: "2015-06-29", revoked: "2015-06-28")
        let ended = try Calculator.decide(Calculator.evidence([proof, refunded]), promises: [promise()], under: strict)
        // The artifact after the refund was signed when the app was already free.
        #expect(ended.outcome == .denied)
        let only = try Calculator.decide(Calculator.evidence([refunded]), promises: [promise()], under: strict)
        #expect(only.outcome == .denied && only.findings.contains(.promiseEnded))
        let other = Calculator.app(
            "37", "2014-05-01", signed: "2015-06-29", id: .appTransaction("2"), revoked: "2015-06-28")
        #expect(
            try Calculator.decide(Calculator.evidence([other]), promises: [promise()], under: strict).outcome
                == .granted)
        #expect(
            try Calculator.decide(Calculator.evidence([]), promises: [promise()], under: strict).outcome == .granted)
    }

    @Test func `of several promises about an entitlement the best one decides, whatever their order`() throws {
        let refunded = Calculator.app("37", "2014-05-01", signed: "2015-06-29", revoked: "2015-06-28")
        let second = Calculator.app("90", "2015-01-01", id: .appTransaction("700000000000002"))
        let right = try #require(Calculator.decide(Calculator.evidence([second]), under: generous).eraRights.first)
        let kept = Promise(entitlement: "everything", acquisition: right.acquisition, policy: generous, until: nil)
        for promises in [[try promise(), kept], [kept, try promise()]] {
            let decision = try Calculator.decide(
                Calculator.evidence([refunded, second]), promises: promises, under: strict)
            #expect(decision.outcome == .granted && decision.findings.first == .promise(until: nil))
        }
    }

    @Test func `a refund ends a promise if the purchase dates of both differ by two seconds at most`() throws {
        let bought = AcquisitionKey(
            appTransactionID: nil, downloadID: nil, originalPurchaseDate: date("2014-05-01T10:00:00Z"))
        let promise = Promise(entitlement: "everything", acquisition: bought, policy: generous, until: nil)
        for (second, outcome) in [(2, Decision.Outcome.denied), (3, .granted)] {
            let refunded = Calculator.app(
                "37", "2014-05-01T10:00:0\(second)Z", signed: "2015-06-29", id: nil, revoked: "2015-06-28")
            let decision = try Calculator.decide(
                Calculator.evidence([refunded]), promises: [promise], under: strict)
            #expect(decision.outcome == outcome, "\(second) seconds")
        }
    }

    @Test
    func `an uncertain right from one acquisition isn't promised because another acquisition gives a limited right`()
        throws
    {
        let end = date("2016-01-01")
        let start = date("2015-03-01")
        let policy = try Policy(
            app: strict.app,
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "promo", model: .free, begins: [.iOS: .at(version: AppVersion("100"), date: start)],
                    changeover: .noWindow),
                Era(
                    name: "freemium", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion("120"), date: Calculator.iOSChange),
                        .macOS: .at(version: AppVersion("2.0"), date: Calculator.iOSChange),
                    ], changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "everything", honors: [Honor(era: "paid"), Honor(era: "promo", until: end)])
            ])
        // The first acquisition has no ID and no platform: paid on iOS, or free on macOS. The second is in the
        // promotion.
        let unnamed = Calculator.app("2.1", nil, platform: nil, id: nil)
        let named = Calculator.app("110", "2015-04-01")
        var decision = try Calculator.decide(Calculator.evidence([unnamed, named]), under: policy)
        #expect(decision.outcome == .granted && decision.until == nil && decision.eraRights.map(\.until) == [end])
        decision.recordPromises()
        #expect(!decision.isPromised)
        #expect(!decision.sentence.contains("permanently"), "\(decision.sentence)")
    }

    @Test func `test environments and personas neither make promises nor keep them`() throws {
        let sandbox = Calculator.evidence([proof], environment: .sandbox, persona: Persona(name: "early", proof: proof))
        let decision = try Calculator.decide(sandbox, promises: [promise()], under: generous)
        #expect(decision.outcome == .granted && decision.eraRights.isEmpty)
        let without = Calculator.evidence([proof], environment: .sandbox)
        #expect(try Calculator.decide(without, promises: [promise()], under: generous).outcome == .denied)
    }
}
