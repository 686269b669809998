import Foundation
import Testing

@testable import TenureCore

/// Compares each template's complete sentence, because customers read it.
@Suite struct SentenceTests {
    /// A decision, and the sentence that the customer must read.
    struct Case: Sendable, CustomTestStringConvertible {
        let outcome: Decision.Outcome
        var until: Date?
        var findings: [Finding] = []
        var nextSteps: [NextStep] = []
        var policy = SentencePolicy()
        var type: Purchase.ProductType = .autoRenewable
        var isPromised = false
        let sentence: String

        var testDescription: String { sentence }
    }

    @Test(arguments: grants + denials + sales + doubts + acquisitions)
    func `each kind of decision has the sentence that support can send`(_ example: Case) throws {
        let bought = Calculator.app("37", "2014-05-01")
        let purchase = Purchase(
            transactionID: "1", productID: "id.pro", type: example.type, purchaseDate: nil, signedDate: nil)
        let evidence = Calculator.evidence(
            [bought], transactions: [purchase], environment: .sandbox, persona: Persona(name: "Ann", proof: bought))
        let policy = try example.policy.policy()
        let decision = Decision(
            entitlement: "everything", outcome: example.outcome, until: example.until, nextSteps: example.nextSteps,
            eraRights: [], isPromised: example.isPromised, title: policy.entitlements[0].title,
            findings: example.findings,
            context: Reason.Context(evidence, evaluated: evidence.acquisitions, under: policy))
        #expect(decision.sentence(in: ["de-AT"]) == example.sentence)
    }

    private static let midnight = date("2016-03-01")
    private static let noon = date("2016-03-01T12:00:00Z")
    private static let evening = date("2016-02-29T18:00:00Z")
    private static let paid = EraSet(from: 0, to: 1)
    private static let free = EraSet(from: 1, to: 2)
    private static let both = EraSet(from: 0, to: 2)
    private static let proofs: [Finding] = [.version(0, eras: paid), .date(date("2014-05-01"), eras: paid)]
    private static let lateProofs: [Finding] = [.version(0, eras: free), .date(date("2014-05-01"), eras: free)]
    private static let help = "In the app you can buy it or tap Restore Purchases; if this seems wrong"
    private static let write = ", please contact our support team."
    private static let family = ", or someone in your family got the app earlier, please contact our support team."

    private static let then = ", or someone in your family got it then, please contact our support team."

    private static func granted(
        _ findings: Finding..., until: Date? = nil, policy: SentencePolicy = SentencePolicy(),
        type: Purchase.ProductType = .autoRenewable, isPromised: Bool = false, says sentence: String
    ) -> Case {
        Case(
            outcome: .granted, until: until, findings: findings, policy: policy, type: type, isPromised: isPromised,
            sentence: sentence)
    }

    private static let titles = SentencePolicy(hasTitles: true)

    private static let grants = [
        granted(
            .promise(until: nil),
            says: "“everything” is yours permanently: it came with your copy of the app, and we keep that promise."),
        granted(
            .promise(until: evening), until: evening,
            says:
                "“everything” is yours until February 29, 2016: it came with your copy of the app, and we keep that promise."
        ),
        granted(
            .promise(until: nil), .persona,
            says:
                "As the test customer “Ann”: “everything” is yours permanently: it came with your copy of the app, and we keep that promise."
        ),
        granted(
            .supportGrant(until: nil), says: "“everything” is yours permanently: our support team gave it to you."),
        // A right that ends at midnight includes February 29, and not March 1.
        granted(
            .supportGrant(until: midnight), until: midnight,
            says: "“everything” is yours through February 29, 2016: our support team gave it to you."),
        granted(
            .testEnvironment,
            says: "“everything” is yours: in Sandbox, every tester counts as someone who got the app in time."),
        granted(
            .product(0, until: nil), type: .nonConsumable,
            says: "“everything” is yours permanently: it comes with your purchase."),
        granted(
            .product(0, until: nil), policy: titles, type: .nonConsumable,
            says: "“Alles” is yours permanently: it comes with “Vollversion”."),
        granted(
            .product(0, until: evening), until: evening,
            says: "“everything” is yours until February 29, 2016: it comes with your subscription."),
        granted(
            .product(0, until: noon), until: noon, policy: SentencePolicy(hasLastDay: true),
            says: "“everything” is yours until March 1, 2016: it comes with your subscription."),
        granted(
            .product(0, until: nil), .familyShared(0), type: .nonConsumable,
            says: "“everything” is yours: someone in your family shares a purchase with you."),
        granted(
            .product(0, until: evening), .familyShared(0), until: evening,
            says:
                "“everything” is yours until February 29, 2016: someone in your family shares a subscription with you."
        ),
        granted(
            .product(0, until: nil), .familyShared(0), policy: titles, type: .nonConsumable,
            says: "“Alles” is yours: someone in your family shares “Vollversion” with you."),
        granted(
            .gracePeriod(0, until: evening), until: evening,
            says:
                "“everything” is yours until February 29, 2016: it comes with your subscription, whose payment failed, so please check your payment method with Apple."
        ),
        granted(
            .boughtAgain(signed: evening),
            says:
                "“everything” is yours permanently: after its refund you had the app again by February 29, 2016, when this was still included."
        ),
        granted(
            .noAcquisition, says: "“everything” is yours permanently: the App Store's records show that you have it."),
    ]

    private static func denied(
        _ findings: Finding..., policy: SentencePolicy = SentencePolicy(),
        type: Purchase.ProductType = .autoRenewable, says sentence: String
    ) -> Case {
        Case(outcome: .denied, findings: findings, policy: policy, type: type, sentence: sentence)
    }

    private static let denials = [
        denied(
            .supportRevocation,
            says:
                "Our support team withdrew “everything”; buying it or tapping Restore Purchases doesn't change that. Please write to them if you have a question."
        ),
        denied(
            .supportRevocation, policy: SentencePolicy(trial: .days(14)),
            says:
                "Our support team withdrew “everything”; trying it, buying it, or tapping Restore Purchases doesn't change that. Please write to them if you have a question."
        ),
        denied(
            .supportRevocation, policy: SentencePolicy(isSold: false, trial: .days(14)),
            says:
                "Our support team withdrew “everything”; trying it doesn't change that. Please write to them if you have a question."
        ),
        denied(
            .supportRevocation, policy: SentencePolicy(isSold: false),
            says: "Our support team withdrew “everything”. Please write to them if you have a question."),
        denied(
            .appRefunded(at: evening),
            says:
                "“everything” isn't included anymore: your purchase of the app was refunded or revoked on February 29, 2016. \(help)\(family)"
        ),
        denied(
            .licenseEnded(at: evening),
            says:
                "“everything” isn't included anymore: your organization's license for the app ended on February 29, 2016. \(help)\(family)"
        ),
        denied(
            .noHonors, .promiseEnded,
            says:
                "“everything” isn't included anymore: your purchase of the app was refunded, or its license ended. \(help)\(family)"
        ),
        denied(
            .honorEnded(era: 0, at: evening), proofs[0], proofs[1],
            says: "“everything” came with your copy of the app until February 29, 2016. \(help)\(write)"),
        // `until` includes its day in every time zone.
        denied(
            .honorEnded(era: 0, at: noon), proofs[0], proofs[1], policy: SentencePolicy(hasLastDay: true),
            says: "“everything” came with your copy of the app through February 29, 2016. \(help)\(write)"),
        denied(
            .honorEnded(era: 0, at: evening), .version(0, eras: paid), .dateMissing,
            says: "“everything” came with the app for a limited time, until February 29, 2016. \(help)\(write)"),
        denied(
            .honorEnded(era: 0, at: evening), .date(date("2014-05-01"), eras: both),
            says: "“everything” came with the app for a limited time, until February 29, 2016. \(help)\(write)"),
        denied(
            .supportGrantEnded(at: evening),
            says: "Our support team gave you “everything” until February 29, 2016. \(help)\(write)"),
        denied(
            .noHonors, .expired(0, at: midnight), .billingRetry(0),
            says:
                "“everything” comes with your subscription, whose payment failed. Please check your payment method with Apple, then tap Restore Purchases in the app."
        ),
        denied(
            .noHonors, .refunded(0, at: evening), type: .nonConsumable,
            says:
                "“everything” came with your purchase, which was refunded or revoked on February 29, 2016. In the app you can buy it again or tap Restore Purchases; if this seems wrong\(family)"
        ),
        denied(
            .noHonors, .expired(0, at: evening), .refunded(0, at: midnight), policy: titles,
            says:
                "“Alles” came with “Vollversion”, which ended on February 29, 2016. In the app you can renew it or tap Restore Purchases; if this seems wrong\(family)"
        ),
        denied(
            .noHonors, .expired(0, at: evening), policy: SentencePolicy(honors: false), type: .nonRenewing,
            says:
                "“everything” came with your purchase, which ended on February 29, 2016. In the app you can buy it again or tap Restore Purchases; if this seems wrong\(write)"
        ),
        denied(
            .noHonors, .upgraded(0),
            says: "“everything” came with your subscription, which you changed to another one. \(help)\(family)"),
        denied(
            .testEnvironment,
            says: "“everything” isn't included here: in Sandbox, every tester counts as a new customer. \(help)\(write)"
        ),
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1],
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014, outside the dates for which it was offered. \(help)\(then)"
        ),
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1], policy: SentencePolicy(since: "2014-06-10"),
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014, and it's for people who got it on June 10, 2014 or later. \(help)\(then)"
        ),
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1], policy: SentencePolicy(before: "2014-04-10"),
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014, and it's for people who got it by April 9, 2014. \(help)\(then)"
        ),
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1],
            policy: SentencePolicy(since: "2014-06-10", before: "2014-07-10"),
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014, and it's for people who got it between June 10, 2014 and July 9, 2014. \(help)\(then)"
        ),
        // A day in the policy applies in every time zone, and the sentence names the day as the policy has it.
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1],
            policy: SentencePolicy(since: "2014-06-09T10:00:00Z", before: "2014-07-10T12:00:00Z"),
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014, and it's for people who got it between June 10, 2014 and July 9, 2014. \(help)\(then)"
        ),
        // Only some hours of this day are included, so a sentence that names the day would be wrong.
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1], policy: SentencePolicy(since: "2014-05-01T09:00:00Z"),
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014, outside the dates for which it was offered. \(help)\(then)"
        ),
        denied(
            .eraNotHonored(free), lateProofs[0], lateProofs[1],
            says:
                "“everything” isn't included with your copy: you got the app on May 1, 2014 (build 37), when it was free. \(help)\(family)"
        ),
        denied(
            .eraNotHonored(both), .version(0, eras: both), .dateMissing,
            says:
                "“everything” isn't included with your copy: you got the app as build 37, when this wasn't included. \(help)\(family)"
        ),
        denied(
            .eraNotHonored(free), lateProofs[0], lateProofs[1], .preorder(date("2014-04-20")),
            says:
                "“everything” isn't included with your copy: you pre-ordered the app on April 20, 2014 and got it on May 1, 2014 (build 37), when it was free. \(help)\(family)"
        ),
    ]

    private static let notFree =
        "isn't included with your copy: you got the app on May 1, 2014 (build 37), when it was free."

    /// What the sentence offers in addition to the reason.
    private static let sales = [
        denied(
            .eraNotHonored(free), lateProofs[0], lateProofs[1], policy: SentencePolicy(trial: .sessions(5)),
            says:
                "“everything” \(notFree) In the app you can try it, buy it, or tap Restore Purchases; if this seems wrong\(family)"
        ),
        denied(
            .eraNotHonored(free), lateProofs[0], lateProofs[1],
            policy: SentencePolicy(isSold: false, trial: .days(14)),
            says: "“everything” \(notFree) In the app you can try it; if this seems wrong\(family)"),
        denied(
            .eraNotHonored(free), lateProofs[0], lateProofs[1], policy: SentencePolicy(isSold: false),
            says: "“everything” \(notFree) If this seems wrong\(family)"),
        denied(
            .noHonors, .noPurchase, policy: SentencePolicy(honors: false),
            says:
                "“everything” comes with a purchase in the app, and we have no record of one. \(help)\(write)"),
        denied(
            .noHonors, .noPurchase, policy: SentencePolicy(hasTitles: true, honors: false),
            says:
                "“Alles” comes with “Vollversion” or “Jahresabo” in the app, and we have no record of such a purchase. \(help)\(write)"
        ),
        denied(
            .noHonors, policy: SentencePolicy(isSold: false, honors: false),
            says:
                "“everything” isn't included: we have no record of anything that includes it. If this seems wrong\(write)"
        ),
    ]

    private static func undetermined(
        _ findings: Finding..., next nextSteps: [NextStep] = [.support],
        policy: SentencePolicy = SentencePolicy(), says doubt: String
    ) -> Case {
        Case(
            outcome: .undetermined, findings: findings, nextSteps: nextSteps, policy: policy,
            sentence: "We can't tell yet whether “\(policy.hasTitles ? "Alles" : "everything")” is yours: \(doubt)")
    }

    private static let settle = "Please contact our support team, who can settle it."
    private static let refresh = "Please open the app while you're online and tap Restore Purchases"

    private static let doubts = [
        undetermined(
            .noAcquisition, next: [.appTransaction, .refreshedReceipt],
            says: "the App Store hasn't confirmed yet how you got the app. \(refresh)."),
        undetermined(
            .nothingToCompare, .dateMissing, next: [.refreshedReceipt],
            says: "the App Store hasn't told us on which day you got the app. \(refresh)."),
        undetermined(
            .nothingToCompare, .date(date("2014-05-01"), eras: both),
            says: "what the App Store says about how you got the app doesn't settle it. \(settle)"),
        undetermined(
            .windowNeedsDate(era: 0), .dateMissing, next: [.appTransaction, .refreshedReceipt],
            says: "the App Store hasn't told us on which day you got the app. \(refresh)."),
        undetermined(
            .inDoubt(honored: paid, others: free), .changeover(date("2014-05-01"), eras: both),
            .version(0, eras: free), .date(date("2014-05-01"), eras: paid),
            says: "you got the app on May 1, 2014 (build 37), around the time when it changed. \(settle)"),
        undetermined(
            .inDoubt(honored: paid, others: free), next: [.appTransaction, .support],
            says:
                "the App Store's records don't show exactly when you got the app. \(refresh), or contact our support team if that doesn't help."
        ),
        undetermined(
            .boughtAgainInDoubt(signed: evening),
            says:
                "the app was refunded, and the App Store's records don't show exactly when you got it again. \(settle)"),
        undetermined(
            .endUnknown(era: 0),
            says: "it came with the app for a limited time, and we don't know when that time ends. \(settle)"),
        undetermined(
            .noHonors, .noLength(0), says: "the App Store doesn't say how long your subscription lasts. \(settle)"),
        undetermined(
            .noHonors, .unknownProductType(0), next: [.purchases, .support], policy: titles,
            says:
                "the App Store doesn't say how long “Vollversion” lasts. Please open the app and tap Restore Purchases, or contact our support team if that doesn't help."
        ),
        undetermined(.testEnvironment, says: "Sandbox doesn't show how you got the app. \(settle)"),
        undetermined(
            .noHonors, .purchasesIncomplete, next: [.purchases],
            says: "we haven't seen all of your purchases yet. Please open the app and tap Restore Purchases."),
        undetermined(
            .noHonors, .purchasesIncomplete, next: [.purchases], policy: titles,
            says:
                "we don't know yet whether you have “Vollversion” or “Jahresabo”. Please open the app and tap Restore Purchases."
        ),
        undetermined(.promiseEnded, says: "the App Store's records don't settle it. \(settle)"),
    ]

    /// The known facts about how a customer got the app.
    private static let acquisitions = [
        granted(
            .eraHonored(paid), proofs[0], proofs[1],
            says:
                "“everything” is yours permanently: you got the app on May 1, 2014 (build 37), while it was sold for a price."
        ),
        granted(
            .eraHonored(paid), proofs[0], .dateMissing,
            says: "“everything” is yours permanently: you got the app as build 37, while it was sold for a price."),
        granted(
            .eraHonored(both), .versionMissing, .dateMissing,
            says: "“everything” is yours permanently: you got the app when this was included."),
        // The build overrides the later date, so the date isn't a reason.
        granted(
            .eraHonored(paid), .versionAuthoritative, proofs[0], .date(date("2016-02-01"), eras: free),
            says: "“everything” is yours permanently: you got the app as build 37, while it was sold for a price."),
        // The date overrides the later build.
        granted(
            .eraHonored(paid), .dateBeforeVersion, .version(0, eras: free), proofs[1],
            says: "“everything” is yours permanently: you got the app on May 1, 2014, while it was sold for a price."),
        granted(
            .eraHonored(both), .versionMissing, .date(date("2014-05-01"), eras: both),
            says: "“everything” is yours permanently: you got the app on May 1, 2014, when this was included."),
        granted(
            .inDoubt(honored: paid, others: free), .changeover(date("2014-05-01"), eras: both), proofs[1],
            says:
                "“everything” is yours: you got the app on May 1, 2014, around the time when it changed, so we decided in your favor."
        ),
        granted(
            .inDoubt(honored: paid, others: free), .changeover(date("2014-05-01"), eras: both), proofs[1],
            isPromised: true,
            says:
                "“everything” is yours permanently: you got the app on May 1, 2014, around the time when it changed, so we decided in your favor."
        ),
        granted(
            .inDoubt(honored: paid, others: free), proofs[1],
            says:
                "“everything” is yours: the App Store's records don't show exactly when you got the app, so we decided in your favor."
        ),
        granted(
            .eraHonored(paid), .date(Date(timeIntervalSince1970: 1e13), eras: paid),
            says:
                "“everything” is yours permanently: you got the app on an unknown date, while it was sold for a price."
        ),
    ]
}

/// The Calculator's policy, with everything on which sentences depend.
struct SentencePolicy: Sendable {
    var hasTitles = false
    var isSold = true
    var trial: Trial?
    var honors = true
    var since: String?
    var before: String?
    var hasLastDay = false

    func policy(inDoubt: Policy.InDoubt = .favorCustomer) throws -> Policy {
        let honor = Honor(
            era: "paid", boughtSince: since.map(date), boughtBefore: before.map(date),
            until: hasLastDay ? date("2016-03-01T12:00:00Z") : nil)
        return try Policy(
            app: Policy.App(bundleID: "com.example.calculator"),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: Calculator.iOSChange)], changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", title: hasTitles ? ["en": "Everything", "de": "Alles"] : nil,
                    products: isSold
                        ? [
                            .init(id: "id.pro", title: hasTitles ? ["en": "Full Version", "de": "Vollversion"] : nil),
                            .init(id: "id.year", title: hasTitles ? ["en": "One Year", "de": "Jahresabo"] : nil),
                        ] : [],
                    honors: honors ? [honor] : nil, trial: trial)
            ],
            inDoubt: inDoubt)
    }
}
