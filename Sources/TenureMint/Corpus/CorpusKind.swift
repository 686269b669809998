import TenureAppStore

/// What a line of a corpus is about. With each kind stands what must come of it: written down from the rules of a
/// decision, and never asked of the code that is to be judged.
enum CorpusKind: String, CaseIterable, Sendable {
    // Customers as there are many of.
    case earlyBuyer, recentBuyer, lateBuyer, newcomer, newcomerWithEverything, subscriber
    case macBuyer, macLateBuyer, macNewcomer, televisionBuyer

    // Trouble with when and how the app was got.
    /// Got the app in the week in which it was free.
    case giveaway
    /// While price and binary changed.
    case changeover
    /// The version is missing, or is none, or there is no date either.
    case noVersion, malformedVersion, noProof
    /// The signed platform is missing, or one that nobody knows yet.
    case noPlatform, unknownPlatform
    /// The version is one of after the date; or one of before it.
    case versionAfterDate, versionBeforeDate
    case preorder
    /// A receipt of before June 2013, which has no version.
    case oldReceipt
    case receipt
    /// The app was refunded; and bought again while it was sold (two lines).
    case refundedApp, boughtAgain
    /// An organization's license, that has ended or runs.
    case licenseEnded, license

    // Trouble with purchases.
    case expiredSubscription, gracePeriod, billingRetry, refundedPurchase, consumable, familyShared
    /// Nothing about the app itself.
    case purchasesOnly, renewalOnly

    // One customer in several lines.
    /// The same line twice.
    case duplicate
    /// The same acquisition, signed for another device.
    case secondDevice
    /// An app transaction beside a receipt, and the receipt once more, alone.
    case linkedReceipt
    /// Two receipts that name nobody, under one id of the exporter.
    case sameUser

    // Other spellings of sound lines.
    case serverVariant, quotedLine, blanksAround
    /// A sound app transaction beside a transaction that somebody changed.
    case partlyBad

    // Lines of which nothing counts.
    case emptyLine, brokenJSON, notUTF8, nothingSigned, wrongShape, severalAccounts, hugeLine, oversized, garbage
    case otherApp, otherAppleID, sandbox, sandboxReceipt, xcode, expiredChain, foreignRoot, badSignature, tampered
    case unsigned, tamperedReceipt, futureSigning

    /// What must come of a customer, by entitlement: now, and under the policy before.
    struct Expectation: Sendable {
        let everything: (now: Answer, before: Answer)
        let cloud: (now: Answer, before: Answer)
    }

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

    /// Nil for a line that is no customer.
    var expectation: Expectation? {
        let honored = Answer.granted("eraHonored")
        let notHonored = Answer.denied("eraNotHonored")
        let outside = Answer.denied("outsideWindow")
        // Nobody thought of the cloud before.
        let noHonors = Answer.denied("noHonors")
        let doubt = Answer.granted("inDoubt")
        let bought = Answer.granted("product")
        switch self {
        case .earlyBuyer, .macBuyer, .duplicate, .secondDevice, .linkedReceipt, .serverVariant, .quotedLine,
            .blanksAround, .partlyBad:
            return Expectation(everything: (honored, honored), cloud: (outside, noHonors))
        case .recentBuyer, .macLateBuyer:
            return Expectation(everything: (honored, honored), cloud: (honored, noHonors))
        // The boundary of before was too low.
        case .lateBuyer: return Expectation(everything: (honored, notHonored), cloud: (honored, noHonors))
        case .newcomer, .macNewcomer, .preorder, .expiredSubscription, .billingRetry, .refundedPurchase, .consumable:
            return Expectation(everything: (notHonored, notHonored), cloud: (notHonored, noHonors))
        case .newcomerWithEverything, .familyShared:
            return Expectation(everything: (bought, bought), cloud: (notHonored, noHonors))
        case .subscriber: return Expectation(everything: (bought, bought), cloud: (bought, bought))
        case .gracePeriod:
            let grace = Answer.granted("gracePeriod")
            return Expectation(everything: (grace, grace), cloud: (grace, grace))
        // The giveaway was forgotten: who got the app in it loses.
        case .giveaway: return Expectation(everything: (notHonored, honored), cloud: (notHonored, noHonors))
        case .changeover: return Expectation(everything: (doubt, notHonored), cloud: (doubt, noHonors))
        // Without a date the boundary of before told nothing of these.
        case .noVersion, .malformedVersion:
            return Expectation(
                everything: (honored, .undetermined("nothingToCompare")), cloud: (outside, noHonors))
        case .noProof:
            let nothing = Answer.undetermined("nothingToCompare")
            return Expectation(everything: (nothing, nothing), cloud: (nothing, noHonors))
        case .noPlatform, .unknownPlatform, .receipt, .oldReceipt, .sameUser:
            return Expectation(everything: (honored, doubt), cloud: (outside, noHonors))
        // Before the Apple TV had a store, so as without a platform.
        case .televisionBuyer: return Expectation(everything: (honored, doubt), cloud: (honored, noHonors))
        case .versionAfterDate: return Expectation(everything: (honored, notHonored), cloud: (outside, noHonors))
        // The version is believed, and the giveaway had the same builds.
        case .versionBeforeDate: return Expectation(everything: (doubt, honored), cloud: (doubt, noHonors))
        case .refundedApp:
            let refunded = Answer.denied("appRefunded")
            return Expectation(everything: (refunded, refunded), cloud: (outside, noHonors))
        case .boughtAgain:
            return Expectation(
                everything: (.granted("boughtAgain"), .undetermined("boughtAgainInDoubt")), cloud: (outside, noHonors))
        case .licenseEnded:
            let ended = Answer.denied("licenseEnded")
            return Expectation(everything: (ended, ended), cloud: (outside, noHonors))
        case .license: return Expectation(everything: (honored, doubt), cloud: (outside, noHonors))
        case .purchasesOnly:
            return Expectation(everything: (bought, bought), cloud: (.undetermined("noAcquisition"), noHonors))
        case .renewalOnly:
            let nobody = Answer.undetermined("noAcquisition")
            return Expectation(everything: (nobody, nobody), cloud: (nobody, noHonors))
        default: return nil
        }
    }

    /// Why nothing of the line counts; nil where it is a customer's, or blank.
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
        case .expiredChain, .futureSigning: Rejection.Code.expiredAtSigning.rawValue
        case .badSignature, .tampered, .tamperedReceipt: Rejection.Code.badSignature.rawValue
        case .unsigned: Rejection.Code.unsupportedAlgorithm.rawValue
        default: nil
        }
    }
}
