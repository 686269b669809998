import Foundation
import Testing

@testable import TenureCore

/// Every sentence that there is, letter by letter: people read them.
@Suite struct SentenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let outcome: Decision.Outcome
        var until: Date?
        var findings: [Finding] = []
        var nextSteps: [NextStep] = []
        let sentence: String

        var testDescription: String { sentence }
    }

    @Test(arguments: grants + denials + doubts + acquisitions)
    func `reads as a support person would send it`(_ example: Case) throws {
        let bought = Calculator.app("37", "2014-05-01")
        let purchase = Purchase(
            transactionID: "1", productID: "pro", type: .autoRenewable, purchaseDate: nil, signedDate: nil)
        let evidence = Calculator.evidence(
            [bought], transactions: [purchase], environment: .sandbox, persona: Persona(name: "Ann", proof: bought))
        let decision = Decision(
            entitlement: "everything", outcome: example.outcome, until: example.until, findings: example.findings,
            context: Reason.Context(evidence, judged: evidence.acquisitions, under: try Calculator.policy()),
            nextSteps: example.nextSteps, eraRights: [])
        #expect(decision.sentence == example.sentence)
    }

    private static let day = date("2016-02-29")
    private static let paid = EraSet(from: 0, to: 1)
    private static let both = EraSet(from: 0, to: 2)
    private static let proofs: [Finding] = [.version(0, eras: paid), .date(date("2014-05-01"), eras: paid)]
    private static let help =
        "if that seems wrong, or somebody in your family had the app before, please write to our support."

    private static func granted(_ findings: Finding..., until: Date? = nil, says sentence: String) -> Case {
        Case(outcome: .granted, until: until, findings: findings, sentence: sentence)
    }

    private static let grants = [
        granted(
            .promise(until: nil),
            says: "“everything” is yours for good: we promised it when the app changed, and a promise stands."),
        granted(
            .promise(until: day), until: day,
            says:
                "“everything” is yours until 29 February 2016: we promised it when the app changed, and a promise stands."
        ),
        granted(
            .promise(until: nil), .persona,
            says: "As “Ann”: “everything” is yours for good: we promised it when the app changed, and a promise stands."
        ),
        granted(.supportGrant(until: nil), says: "“everything” is yours for good: our support team gave it to you."),
        granted(
            .testEnvironment,
            says:
                "“everything” is yours for good: in Sandbox every tester counts as somebody who had the app before it changed."
        ),
        granted(.product(0, until: nil), says: "“everything” is yours for good: you have the purchase `pro`."),
        granted(
            .product(0, until: day), until: day,
            says: "“everything” is yours until 29 February 2016: you have the subscription `pro`."),
        granted(
            .product(0, until: nil), .familyShared(0),
            says: "“everything” is yours for good: your family shares the purchase `pro` with you."),
        granted(
            .gracePeriod(0, until: day), until: day,
            says:
                "“everything” is yours until 29 February 2016: the subscription `pro` could not be charged yet, so please check your payment method with Apple."
        ),
        granted(
            .boughtAgain(signed: day),
            says:
                "“everything” is yours for good: you had the app again by 29 February 2016, after its refund, while it was still sold."
        ),
        granted(
            .boughtAgainInDoubt(signed: day),
            says:
                "“everything” is yours for good: you had the app again by 29 February 2016, after its refund, and we decide in your favor."
        ),
    ]

    private static func denied(_ findings: Finding..., end: String) -> Case {
        Case(outcome: .denied, findings: findings, sentence: "“everything” " + end)
    }

    private static let denials = [
        denied(
            .supportRevocation,
            end: "was withdrawn by our support team: please write to them if you have a question."),
        denied(
            .appRefunded(at: day),
            end: "came with the app, whose purchase was refunded on 29 February 2016: \(help)"),
        denied(
            .licenseEnded(at: day),
            end: "came with an organization's license for the app, which ended on 29 February 2016: \(help)"),
        denied(
            .honorEnded(era: 0, at: day), proofs[0], proofs[1],
            end: "was yours until 29 February 2016, as announced when the app changed: \(help)"),
        denied(
            .honorEnded(era: 0, at: day),
            end: "came with the app for a time, which ended for everybody on 29 February 2016: \(help)"),
        denied(
            .supportGrantEnded(at: day),
            end:
                "was given to you by our support team until 29 February 2016: please write to them if you need it longer."
        ),
        denied(
            .noHonors, .billingRetry(0),
            end:
                "comes with the subscription `pro`, which could not be charged: please check your payment method with Apple."
        ),
        denied(
            .noHonors, .refunded(0, at: day),
            end: "came with the purchase `pro`, which was refunded or withdrawn on 29 February 2016: \(help)"),
        denied(
            .noHonors, .expired(0, at: day), .refunded(0, at: day),
            end: "came with `pro`, which ended on 29 February 2016: it can be renewed in the app."),
        denied(.testEnvironment, end: "is not included: in Sandbox every tester counts as a new customer."),
        denied(
            .noHonors, .noPurchase,
            end: "comes with a purchase in the app: if you have one, tap Restore Purchases, and \(help)"),
        denied(.noHonors, end: "is not included: \(help)"),
        denied(
            .outsideWindow(era: 0), proofs[0], proofs[1],
            end:
                "is not included: you got the app on 1 May 2014 (build 37), outside the dates for which it was announced; \(help)"
        ),
        denied(
            .eraNotHonored(paid), proofs[0], proofs[1], .preorder(day),
            end:
                "is not included: you got the app on 1 May 2014 (build 37), ordered in advance on 29 February 2016, at a time when it did not come with the app; \(help)"
        ),
    ]

    private static func undetermined(
        _ findings: Finding..., settled nextSteps: [NextStep] = [], says doubt: String
    ) -> Case {
        Case(
            outcome: .undetermined, findings: findings, nextSteps: nextSteps,
            sentence: "We cannot tell yet whether “everything” is yours: \(doubt).")
    }

    private static let restore = "please open the app and tap Restore Purchases"
    private static let refresh = "please open the app while online and tap Restore Purchases"
    private static let write = "please write to our support, who can settle it"

    private static let doubts = [
        undetermined(
            .noAcquisition, settled: [.appTransaction],
            says: "the App Store has not confirmed yet how you got the app; \(refresh)"),
        undetermined(
            .nothingToCompare, settled: [.support],
            says: "what the App Store has told us of how you got the app does not settle it; \(write)"),
        undetermined(
            .nothingToCompare, settled: [.refreshedReceipt],
            says: "what the App Store has told us does not say when you got the app; \(refresh)"),
        undetermined(
            .windowNeedsDate(era: 0), settled: [.appTransaction],
            says: "what the App Store has told us does not say when you got the app; \(refresh)"),
        undetermined(
            .inDoubt(honored: paid, others: both), .changeover(date("2014-05-01"), eras: both), settled: [.support],
            says: "you got the app on 1 May 2014, around the time when its price changed; \(write)"),
        undetermined(
            .inDoubt(honored: paid, others: both),
            says: "what the App Store says of when you got the app leaves a doubt; \(write)"),
        undetermined(
            .boughtAgainInDoubt(signed: day),
            says:
                "the app was refunded and you have it again, which may have been before or after it became free; \(write)"
        ),
        undetermined(.endUnknown(era: 0), says: "how long it is yours counts from a day that is not set; \(write)"),
        undetermined(.testEnvironment, says: "Sandbox does not tell how an app was acquired"),
        undetermined(
            .noHonors, .purchasesIncomplete, settled: [.purchases],
            says: "not all of your purchases are known to us; \(restore)"),
    ]

    /// How somebody got the app, as far as it is known.
    private static let acquisitions = [
        granted(
            .eraHonored(paid), proofs[0], proofs[1],
            says:
                "“everything” is yours for good: you got the app on 1 May 2014 (build 37), while it was sold for a price."
        ),
        granted(
            .eraHonored(paid), proofs[0],
            says: "“everything” is yours for good: you got the app as build 37, while it was sold for a price."),
        granted(
            .eraHonored(both), proofs[1],
            says:
                "“everything” is yours for good: you got the app on 1 May 2014, and everybody who did then keeps this."),
        granted(
            .inDoubt(honored: paid, others: both), .changeover(date("2014-05-01"), eras: both),
            says:
                "“everything” is yours for good: you got the app on 1 May 2014, around the time when its price changed, and we decide in your favor."
        ),
        granted(
            .inDoubt(honored: paid, others: both),
            says:
                "“everything” is yours for good: you got the app, what the App Store says of it does not settle when, and we decide in your favor."
        ),
        granted(
            .eraHonored(paid), .date(Date(timeIntervalSince1970: 1e13), eras: paid),
            says: "“everything” is yours for good: you got the app on a day long gone, while it was sold for a price."),
    ]
}
