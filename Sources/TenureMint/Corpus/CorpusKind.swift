import TenureAppStore

/// The kind of a line in a corpus (a file of invented customers; see `Corpus`). The expected result of each kind was
/// derived from the decision rules by hand, and not computed by the tested code.
enum CorpusKind: String, CaseIterable, Sendable {
    // Frequent kinds of customers. Early buyers bought the app until June 2014, recent buyers later in 2014, and late
    // buyers in 2015, before the app became free. Newcomers got the app for free.
    case earlyBuyer, recentBuyer, lateBuyer, newcomer, newcomerWithEverything, subscriber
    case macBuyer, macLateBuyer, macNewcomer, televisionBuyer

    // Unusual dates and ways of getting the app.
    /// Got the app in the week in which it was free.
    case giveaway
    /// Got the app while price and binary changed.
    case changeover
    /// The version is missing, or malformed, or version and date are missing.
    case noVersion, malformedVersion, noProof
    /// The signed platform is missing, or unknown.
    case noPlatform, unknownPlatform
    /// The version is from a later era than the date, or from an earlier era.
    case versionAfterDate, versionBeforeDate
    /// The app was preordered, and delivered in the free era.
    case preorder
    /// A receipt from before June 2013, which has no version.
    case oldReceipt
    /// A receipt without an app transaction.
    case receipt
    /// The app was refunded. For `boughtAgain`, it was then bought again while it was sold (two lines).
    case refundedApp, boughtAgain
    /// An organization's license that has ended, or that is still valid.
    case licenseEnded, license

    // Problems with purchases.
    case expiredSubscription, gracePeriod, billingRetry, refundedPurchase, consumable, familyShared
    /// No evidence about the app itself.
    case purchasesOnly, renewalOnly

    // One customer in several lines.
    /// The same line twice.
    case duplicate
    /// The same acquisition, signed for another device.
    case secondDevice
    /// A line with an app transaction and a receipt, and a line with the same receipt alone.
    case linkedReceipt
    /// Two receipts without IDs in lines with the same exported `id`.
    case sameUser

    // Other formats of valid lines.
    /// An app transaction as the App Store Server API returns it, which isn't bound to a device.
    case signedForServer
    /// A JWS in quotes, or with blanks around it.
    case quotedLine, blanksAround
    /// A valid app transaction, and a transaction with a changed signature.
    case partlyBad

    // Rejected and blank lines. `invalidLine` in `CorpusLines` makes them, and `rejection` has their codes.
    case emptyLine, brokenJSON, notUTF8, nothingSigned, wrongShape, severalAccounts, hugeLine, oversized, garbage
    case otherApp, otherAppleID, sandbox, sandboxReceipt, xcode, expiredChain, foreignRoot, badSignature, tampered
    case unsigned, tamperedReceipt, futureSigning

    /// The expected answers on an entitlement: now, and under the previous policy.
    typealias Answers = (now: Answer, before: Answer)

    /// An expected answer: the outcome, and the code of the deciding reason.
    struct Answer: Sendable, Hashable {
        enum Outcome: String, Sendable, Hashable {
            case granted, denied, undetermined
        }

        let outcome: Outcome
        let reason: String

        static func granted(_ reason: String) -> Answer { Answer(outcome: .granted, reason: reason) }
        static func denied(_ reason: String) -> Answer { Answer(outcome: .denied, reason: reason) }
        static func undetermined(_ reason: String) -> Answer { Answer(outcome: .undetermined, reason: reason) }
    }

    /// The expected result for the customer, by entitlement; nil for a line without a customer.
    var expectation: (everything: Answers, cloud: Answers)? {
        func expect(everything: Answers, cloud: Answers) -> (everything: Answers, cloud: Answers) {
            (everything, cloud)
        }
        let honored = Answer.granted("eraHonored")
        let notHonored = Answer.denied("eraNotHonored")
        let outside = Answer.denied("outsideWindow")
        // The previous policy had no entitlement `cloud`.
        let noHonors = Answer.denied("noHonors")
        let doubt = Answer.granted("inDoubt")
        let bought = Answer.granted("product")
        switch self {
        case .earlyBuyer, .macBuyer, .duplicate, .secondDevice, .linkedReceipt, .signedForServer, .quotedLine,
            .blanksAround:
            return expect(everything: (honored, honored), cloud: (outside, noHonors))
        // The rejected transaction may have been a purchase of `cloud`.
        case .partlyBad:
            return expect(
                everything: (honored, honored), cloud: (.undetermined("outsideWindow"), .undetermined("noHonors")))
        case .recentBuyer, .macLateBuyer: return expect(everything: (honored, honored), cloud: (honored, noHonors))
        // In the previous policy, the free era began with build 100, which is too early.
        case .lateBuyer: return expect(everything: (honored, notHonored), cloud: (honored, noHonors))
        case .newcomer, .macNewcomer, .preorder, .expiredSubscription, .billingRetry, .refundedPurchase, .consumable:
            return expect(everything: (notHonored, notHonored), cloud: (notHonored, noHonors))
        case .newcomerWithEverything, .familyShared:
            return expect(everything: (bought, bought), cloud: (notHonored, noHonors))
        case .subscriber: return expect(everything: (bought, bought), cloud: (bought, bought))
        case .gracePeriod:
            let grace = Answer.granted("gracePeriod")
            return expect(everything: (grace, grace), cloud: (grace, grace))
        // The previous policy had no era for the giveaway, so these customers lose `everything`.
        case .giveaway: return expect(everything: (notHonored, honored), cloud: (notHonored, noHonors))
        case .changeover: return expect(everything: (doubt, notHonored), cloud: (doubt, noHonors))
        // The previous policy had no date for the change on iOS.
        case .noVersion, .malformedVersion:
            return expect(everything: (honored, .undetermined("nothingToCompare")), cloud: (outside, noHonors))
        case .noProof:
            let nothing = Answer.undetermined("nothingToCompare")
            return expect(everything: (nothing, nothing), cloud: (nothing, noHonors))
        // These builds may be Mac versions, and the previous policy had no date for iOS.
        case .noPlatform, .unknownPlatform, .receipt, .oldReceipt, .sameUser:
            return expect(everything: (honored, doubt), cloud: (outside, noHonors))
        // The Apple TV had no App Store at that time, so the platform is ignored.
        case .televisionBuyer: return expect(everything: (honored, doubt), cloud: (honored, noHonors))
        case .versionAfterDate: return expect(everything: (honored, notHonored), cloud: (outside, noHonors))
        // The version decides: it is from before the free era. But the giveaway had the builds of the paid eras, so the
        // version doesn't rule it out.
        case .versionBeforeDate: return expect(everything: (doubt, honored), cloud: (doubt, noHonors))
        case .refundedApp:
            let refunded = Answer.denied("appRefunded")
            return expect(everything: (refunded, refunded), cloud: (outside, noHonors))
        case .boughtAgain:
            return expect(
                everything: (.granted("boughtAgain"), .undetermined("boughtAgainInDoubt")), cloud: (outside, noHonors))
        case .licenseEnded:
            let ended = Answer.denied("licenseEnded")
            return expect(everything: (ended, ended), cloud: (outside, noHonors))
        case .license: return expect(everything: (honored, doubt), cloud: (outside, noHonors))
        case .purchasesOnly:
            return expect(everything: (bought, bought), cloud: (.undetermined("noAcquisition"), noHonors))
        case .renewalOnly:
            let unknown = Answer.undetermined("noAcquisition")
            return expect(everything: (unknown, unknown), cloud: (unknown, noHonors))
        default: return nil
        }
    }

    /// The code with which the line is rejected; nil for a customer's line and for a blank line.
    var rejection: String? {
        switch self {
        case .brokenJSON, .notUTF8: "invalidJSON"
        case .nothingSigned: "nothingSigned"
        case .wrongShape: "wrongShape"
        case .severalAccounts: "severalAccounts"
        case .hugeLine: "lineTooLong"
        case .oversized: Rejection.Code.tooLarge.rawValue
        case .garbage: Rejection.Code.malformed.rawValue
        case .otherApp, .otherAppleID: Rejection.Code.wrongApp.rawValue
        case .sandbox, .sandboxReceipt: Rejection.Code.wrongEnvironment.rawValue
        case .xcode, .foreignRoot: Rejection.Code.untrustedChain.rawValue
        case .expiredChain, .futureSigning: Rejection.Code.outsideValidityPeriod.rawValue
        case .badSignature, .tampered, .tamperedReceipt: Rejection.Code.badSignature.rawValue
        case .unsigned: Rejection.Code.unsupportedAlgorithm.rawValue
        default: nil
        }
    }

    /// Whether a second line belongs to the same customer.
    var hasSecondLine: Bool {
        switch self {
        case .duplicate, .secondDevice, .linkedReceipt, .sameUser, .boughtAgain: true
        default: false
        }
    }
}
