import Foundation
import Testing

@testable import TenureCore

/// Each rule of a decision alone. `Tests/PolicyCases` has examples of complete decisions.
@Suite struct ProofRuleTests {
    private func possible(_ proof: AppProof, under policy: Policy) throws -> PossibleEras {
        EraSource(try #require(acquisitions(in: [proof]).first), under: policy, at: Calculator.now).possible
    }

    private let paid = EraSet(from: 0, to: 1)
    private let freemium = EraSet(from: 1, to: 2)
    private let both = EraSet(from: 0, to: 2)

    @Test func `without a signed platform, the version and the date are compared on every platform`() throws {
        let policy = try Calculator.policy()
        #expect(try possible(Calculator.app("2.1", nil, platform: nil), under: policy).eras == both)
        #expect(try possible(Calculator.app("2.1", "2016-03-01", platform: nil), under: policy).eras == freemium)
        #expect(try possible(Calculator.app("2.1", "2014-03-01", platform: nil), under: policy).eras == paid)
    }

    @Test func `neither version nor date proves an era on a platform without boundaries in the policy`() throws {
        let policy = try Calculator.policy(eras: [
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [.iOS: .at(version: AppVersion("120"), date: Calculator.iOSChange)], changeover: .noWindow),
        ])
        let proof = Calculator.app("1.9", "2014-02-01", platform: .macOS)
        let found = try possible(proof, under: policy)
        #expect(found.eras == both && !found.version.wasCompared && !found.date.wasCompared)
        let decision = try Calculator.decide(Calculator.evidence([proof]), under: policy)
        #expect(decision.findings.contains(.platformNotInPolicy(.macOS)))
    }

    @Test func `an app bought in a changeover window may belong to either era, whatever its version`() throws {
        let policy = try Calculator.policy()
        for version in ["37", "120", "1.x", nil] {
            let proof = Calculator.app(version, "2015-06-10T20:00:00Z")
            #expect(try possible(proof, under: policy).eras == both)
            let decision = try Calculator.decide(Calculator.evidence([proof]), under: policy)
            #expect(decision.findings.contains(.changeover(Calculator.iOSChange.addingTimeInterval(7_200), eras: both)))
        }
    }

    @Test func `on a platform that an era skipped, a changeover window covers the era before the skipped one`() throws {
        let window = Changeover.window(from: -24 * 3600, until: 48 * 3600)
        let policy = try Calculator.policy(eras: [
            Era(name: "paid", model: .paid),
            Era(
                name: "giveaway", model: .free,
                begins: [.macOS: .at(version: AppVersion("1.9"), date: date("2014-12-24"))], changeover: .noWindow),
            Era(
                name: "freemium", model: .free,
                begins: [
                    .iOS: .at(version: AppVersion("120"), date: Calculator.iOSChange),
                    .macOS: .at(version: AppVersion("2.0"), date: Calculator.macChange),
                ], changeover: window),
        ])
        func eras(_ indices: Int...) -> EraSet {
            var eras = EraSet()
            for index in indices { eras.insert(index) }
            return eras
        }
        let phone = Calculator.app("120", "2015-06-10T20:00:00Z")
        #expect(try possible(phone, under: policy).eras == eras(0, 2))
        #expect(try Calculator.decide(Calculator.evidence([phone]), under: policy).outcome == .granted)
        let mac = Calculator.app("2.0", "2015-06-12T20:00:00Z", platform: .macOS)
        #expect(try possible(mac, under: policy).eras == eras(1, 2))
        #expect(try Calculator.decide(Calculator.evidence([mac]), under: policy).outcome == .denied)
    }

    @Test func `if version and date contradict each other, an earlier date or else an increasing build number decides`()
        throws
    {
        let increasing = try Calculator.policy()
        let early = try possible(Calculator.app("130", "2014-02-01"), under: increasing)
        #expect(early.eras == paid && early.contradiction == .dateBeforeVersion)
        let old = try possible(Calculator.app("37", "2016-02-01"), under: increasing)
        #expect(old.eras == paid && old.contradiction == .versionAuthoritative)
        let restarted = try Calculator.policy(buildNumbers: .restarted)
        #expect(try possible(Calculator.app("37", "2016-02-01"), under: restarted).eras == freemium)
    }
}

@Suite struct EndingRuleTests {
    private func outcome(_ proofs: [AppProof], inDoubt: Policy.InDoubt = .favorCustomer, at now: String = "2017-01-02")
        throws -> Decision
    {
        try Calculator.decide(
            Calculator.evidence(proofs), under: try Calculator.policy(inDoubt: inDoubt), at: date(now))
    }

    private let refunded = Calculator.app("37", "2014-05-01", signed: "2014-06-02", revoked: "2014-06-01")

    @Test func `a refund of the app ends the era's rights at the instant of the refund`() throws {
        #expect(try outcome([refunded]).outcome == .denied)
        #expect(try outcome([refunded], at: "2014-05-31").until == date("2014-06-01"))
    }

    @Test func `after a refund, a customer who may have bought in an honored era is denied`() throws {
        func doubtful(revoked: String?) -> AppProof {
            Calculator.app("37", "2015-06-10T20:00:00Z", signed: "2015-06-30", revoked: revoked)
        }
        #expect(try outcome([doubtful(revoked: nil)], inDoubt: .undetermined).outcome == .undetermined)
        let decision = try outcome([doubtful(revoked: "2015-06-20")], inDoubt: .undetermined)
        #expect(decision.outcome == .denied)
        #expect(decision.reasons.first?.code == "appRefunded")
    }

    @Test func `an app transaction that wasn't signed after the refunded one restores no right`() throws {
        #expect(try outcome([refunded, Calculator.app("37", "2014-05-01", signed: "2014-05-20")]).outcome == .denied)
        #expect(try outcome([refunded, Calculator.app("37", "2014-05-01", signed: "2014-06-02")]).outcome == .denied)
    }

    @Test func `after a refund, an app transaction signed in the paid era restores the right`() throws {
        let again = Calculator.app("37", "2014-05-01", signed: "2015-05-01")
        #expect(try outcome([refunded, again], inDoubt: .undetermined).outcome == .granted)
        let later = Calculator.app("37", "2014-05-01", signed: "2017-01-01")
        for inDoubt in Policy.InDoubt.allCases {
            let decision = try outcome([refunded, later], inDoubt: inDoubt)
            #expect(decision.outcome == .undetermined && decision.nextSteps == [.support])
            #expect(decision.reasons.first?.code == "boughtAgainInDoubt")
        }
    }

    @Test func `after a refund in the free era, a download of the free app gives no right back`() throws {
        let late = Calculator.app("37", "2014-05-01", signed: "2015-09-02", revoked: "2015-09-01")
        #expect(try outcome([late, Calculator.app("37", "2014-05-01", signed: "2017-01-01")]).outcome == .denied)
    }

    @Test func `a receipt restores no right after a refund, since receipts contain no refund of the app`() throws {
        let receipt = Calculator.app("37", "2014-05-01", platform: nil, signed: "2015-05-01", id: nil, kind: .receipt)
        #expect(try outcome([refunded, receipt]).outcome == .denied)
    }

    @Test func `an app transaction from the server API undoes a refund only if the refund came from there too`() throws
    {
        func server(signed: String, revoked: String? = nil) -> AppProof {
            Calculator.app("37", "2014-05-01", signed: signed, kind: .serverAppTransaction, revoked: revoked)
        }
        #expect(try outcome([refunded, server(signed: "2015-05-01")]).outcome == .denied)
        let told = server(signed: "2014-06-02", revoked: "2014-06-01")
        #expect(try outcome([Calculator.app("37", "2014-05-01", signed: "2014-05-20"), told]).outcome == .denied)
        #expect(try outcome([told, server(signed: "2015-05-01")], inDoubt: .undetermined).outcome == .granted)
    }

    @Test func `a volume license that ended gives no right, unless a later receipt replaces the license`() throws {
        let ended = Calculator.app(
            "37", "2014-05-01", platform: nil, signed: "2014-05-02", id: .download("5"), kind: .receipt,
            expires: "2015-01-01")
        #expect(try outcome([ended]).findings.first == .licenseEnded(at: date("2015-01-01")))
        let renewed = Calculator.app(
            "37", "2014-05-01", platform: nil, signed: "2015-01-02", id: .download("5"), kind: .receipt,
            expires: "2019-01-01")
        #expect(try outcome([ended, renewed]).until == date("2019-01-01"))
    }
}

@Suite struct HonorRuleTests {
    private func decide(_ honor: Honor, _ proof: AppProof, at now: String = "2015-07-01") throws -> Decision {
        try Calculator.decide(
            Calculator.evidence([proof]), under: try Calculator.policy(honors: [honor]), at: date(now))
    }

    @Test func `boughtSince and boughtBefore allow purchases up to two seconds outside their limits`() throws {
        let honor = Honor(era: "paid", boughtSince: date("2014-06-10"), boughtBefore: date("2014-07-10"))
        for (bought, outcome) in [
            ("2014-06-09T23:59:57Z", Decision.Outcome.denied), ("2014-06-09T23:59:58Z", .granted),
            ("2014-06-10", .granted), ("2014-07-10T00:00:01Z", .granted), ("2014-07-10T00:00:02Z", .granted),
            ("2014-07-10T00:00:03Z", .denied),
        ] {
            #expect(try decide(honor, Calculator.app("37", bought)).outcome == outcome, "\(bought)")
        }
        #expect(try decide(honor, Calculator.app("37", nil)).findings.first == .windowNeedsDate(era: 0))
    }

    @Test func `the time limit of an honored era starts with the next era on the customer's platform`() throws {
        let honor = Honor(era: "paid", length: CalendarPeriod(months: 12))
        #expect(try decide(honor, Calculator.app("37", "2014-05-01")).until == date("2016-06-10T18:00:00Z"))
        let mac = Calculator.app("1.9", "2014-05-01", platform: .macOS)
        #expect(try decide(honor, mac).until == date("2016-06-12T18:00:00Z"))
        // Without a signed platform the latest end applies, because doubt favors the customer.
        let undated = Calculator.app(nil, "2014-05-01", platform: nil)
        #expect(try decide(honor, undated).until == date("2016-06-12T18:00:00Z"))
        #expect(try decide(honor, undated, at: "2016-06-12T18:00:00Z").outcome == .denied)
    }

    @Test func `an honor's time limit is undetermined if the next era has no date, and has no effect in the last era`()
        throws
    {
        let policy = try Calculator.policy(
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "freemium", model: .free, begins: [.iOS: .at(version: AppVersion("120"), date: nil)]),
            ],
            honors: [
                Honor(era: "paid", length: CalendarPeriod(months: 12)),
                Honor(era: "freemium", length: CalendarPeriod(months: 12)),
            ])
        let old = try Calculator.decide(Calculator.evidence([Calculator.app("37", nil)]), under: policy)
        #expect(old.outcome == .undetermined && old.findings.first == .endUnknown(era: 0))
        let new = try Calculator.decide(Calculator.evidence([Calculator.app("120", nil)]), under: policy)
        #expect(new.outcome == .granted && new.until == nil)
    }
}

@Suite struct PurchaseRuleTests {
    private func decide(_ purchase: Purchase, renewals: [Renewal] = []) throws -> Decision {
        try Calculator.decide(
            Calculator.evidence([Calculator.app("130", "2015-07-01")], transactions: [purchase], renewals: renewals),
            under: try Calculator.policy())
    }

    private func yearly(until: String, revoked: String? = nil, signed: String = "2015-06-01", id: String = "1")
        -> Purchase
    {
        Purchase(
            transactionID: id, originalTransactionID: "1", productID: Calculator.yearly, type: .autoRenewable,
            purchaseDate: date("2014-07-01"), expiresDate: date(until), revocationDate: revoked.map(date),
            signedDate: date(signed))
    }

    private let failing = Renewal(
        originalTransactionID: "1", productID: Calculator.yearly, gracePeriodExpiresDate: date("2015-07-05"),
        isInBillingRetryPeriod: true, signedDate: date("2015-06-30"))

    @Test func `a grace period extends the latest subscription period, and billing retry alone doesn't`() throws {
        #expect(try decide(yearly(until: "2015-06-30"), renewals: [failing]).until == date("2015-07-05"))
        let retry = Renewal(
            originalTransactionID: "1", productID: Calculator.yearly, gracePeriodExpiresDate: nil,
            isInBillingRetryPeriod: true, signedDate: date("2015-06-30"))
        let decision = try decide(yearly(until: "2015-06-30"), renewals: [retry])
        #expect(decision.outcome == .denied && decision.findings.contains(.billingRetry(0)))
    }

    @Test func `renewal info without its transaction grants nothing`() throws {
        let evidence = Calculator.evidence([Calculator.app("130", "2015-07-01")], renewals: [failing])
        #expect(try Calculator.decide(evidence, under: try Calculator.policy()).outcome == .denied)
    }

    @Test func `a subscription period ends when the customer switches to another product`() throws {
        func period(_ id: String, _ product: String, _ start: String, until: String) -> Purchase {
            Purchase(
                transactionID: id, originalTransactionID: "1", productID: product, type: .autoRenewable,
                purchaseDate: date(start), expiresDate: date(until), signedDate: date(start))
        }
        func replaced(_ purchases: [Purchase]) -> [String] {
            Calculator.evidence([], transactions: purchases).purchases.filter(\.isUpgraded).map(\.transactionID)
        }
        let year = period("1", Calculator.yearly, "2015-01-01", until: "2016-01-01")
        let other = period("2", "com.example.other", "2015-03-01", until: "2015-04-01")
        #expect(replaced([year, other]) == ["1"])
        #expect(replaced([other, year]) == ["1"])
        // A downgrade begins at the end of this period. The next period of the same product replaces nothing.
        #expect(replaced([year, period("2", "com.example.other", "2016-01-01", until: "2017-01-01")]).isEmpty)
        #expect(replaced([year, period("2", Calculator.yearly, "2015-12-31", until: "2016-12-31")]).isEmpty)
        #expect(try decide(year).outcome == .granted)
    }

    @Test func `a subscription's grace period ends when the customer switches to another product`() throws {
        let other = Purchase(
            transactionID: "2", originalTransactionID: "1", productID: "com.example.other", type: .autoRenewable,
            purchaseDate: date("2015-07-01"), expiresDate: date("2015-08-01"), signedDate: date("2015-07-01"))
        let evidence = Calculator.evidence(
            [Calculator.app("130", "2015-07-01")], transactions: [yearly(until: "2015-06-30"), other],
            renewals: [failing])
        #expect(evidence.purchases.allSatisfy { $0.gracePeriodExpiresDate == nil })
        #expect(try Calculator.decide(evidence, under: try Calculator.policy()).outcome == .denied)
    }

    @Test func `a subscription's grace period ends with the next period, even if that period was upgraded`() throws {
        func decide(upgradedFrom start: String) throws -> Decision {
            let upgraded = Purchase(
                transactionID: "2", originalTransactionID: "1", productID: Calculator.yearly, type: .autoRenewable,
                purchaseDate: date(start), expiresDate: date("2016-06-20"), isUpgraded: true,
                signedDate: date("2015-06-29"))
            let evidence = Calculator.evidence(
                [Calculator.app("130", "2015-07-01")], transactions: [yearly(until: "2015-06-20"), upgraded],
                renewals: [failing])
            return try Calculator.decide(evidence, under: try Calculator.policy())
        }
        #expect(try decide(upgradedFrom: "2015-06-20").outcome == .denied)
        // A period that began earlier isn't the next period.
        #expect(try decide(upgradedFrom: "2015-06-10").outcome == .granted)
    }

    @Test func `a grace period doesn't restore a subscription period that was refunded`() throws {
        let evidence = Calculator.evidence(
            [Calculator.app("130", "2015-07-01")],
            transactions: [
                yearly(until: "2014-06-30"), yearly(until: "2015-06-30", revoked: "2015-06-01", id: "2"),
            ], renewals: [failing])
        #expect(try Calculator.decide(evidence, under: try Calculator.policy()).outcome == .denied)
    }

    @Test func `of several copies of a transaction, the latest-signed copy decides`() throws {
        let policy = try Calculator.policy()
        let paid = yearly(until: "2016-07-01", signed: "2015-06-01")
        let refunded = yearly(until: "2016-07-01", revoked: "2015-06-20", signed: "2015-06-21")
        let reversed = yearly(until: "2016-07-01", signed: "2015-06-25")
        func outcome(_ purchases: [Purchase]) throws -> Decision.Outcome {
            try Calculator.decide(Calculator.evidence([], transactions: purchases), under: policy).outcome
        }
        #expect(try outcome([paid, refunded]) != .granted)
        #expect(try outcome([reversed, refunded, paid]) == .granted)
    }
}

@Suite struct PersonaRuleTests {
    @Test func `a persona counts in Sandbox with an app transaction or a transaction, and not without an artifact`()
        throws
    {
        let owner = Persona(name: "Ann", proof: Calculator.app("37", "2014-05-01"))
        let purchase = Purchase(
            transactionID: "1", productID: "com.example.calculator.coins", type: .consumable,
            purchaseDate: date("2015-06-01"), signedDate: date("2015-06-01"))
        func outcome(_ proofs: [AppProof], _ transactions: [Purchase]) throws -> Decision.Outcome {
            let evidence = Calculator.evidence(
                proofs, transactions: transactions, environment: .sandbox, persona: owner)
            return try Calculator.decide(evidence, under: Calculator.policy()).outcome
        }
        #expect(try outcome([Calculator.app("1.0", "2013-08-01")], []) == .granted)
        #expect(try outcome([], [purchase]) == .granted)
        #expect(try outcome([], []) != .granted)
    }
}

@Suite struct SeveralAcquisitionsReasonTests {
    @Test func `a reason names the version of the acquisition that decided, whatever the order of the acquisitions`()
        throws
    {
        let owner = Calculator.app("37", "2014-05-01")
        let newcomer = Calculator.app("130", "2015-06-20", id: .appTransaction("700000000000002"))
        for proofs in [[owner, newcomer], [newcomer, owner]] {
            let decision = try Calculator.decide(Calculator.evidence(proofs), under: Calculator.policy())
            let reason = try #require(decision.reasons.first { $0.code == "version" })
            #expect(reason.facts.first { $0.name == "version" }?.fact == .text("37"))
        }
    }

    @Test func `a reason names the version of the purchase that counts, not of an earlier refunded purchase`() throws {
        let refunded = Calculator.app("37", "2014-05-01", signed: "2015-06-29", revoked: "2015-06-28")
        let owner = Calculator.app("40", "2014-06-01", id: .appTransaction("700000000000002"))
        for proofs in [[refunded, owner], [owner, refunded]] {
            let decision = try Calculator.decide(Calculator.evidence(proofs), under: Calculator.policy())
            #expect(decision.outcome == .granted)
            let reason = try #require(decision.reasons.first { $0.code == "version" })
            #expect(reason.facts.first { $0.name == "version" }?.fact == .text("40"))
        }
    }
}
