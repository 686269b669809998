package import Foundation
package import TenureCore

/// What a policy decides about one entitlement of one customer: the parts of a decision that a rehearsal (a dry run of
/// a policy) counts.
package struct Answer: Sendable, Hashable {
    /// Whether the entitlement is granted, denied or undetermined.
    package let outcome: Decision.Outcome
    /// When a granted right ends; nil if it is permanent.
    package let until: Date?
    /// The deciding reason's code; nil if the policy doesn't have the entitlement.
    package let reason: Reason.Code?

    init(_ outcome: Decision.Outcome, until: Date? = nil, reason: Reason.Code?) {
        self.outcome = outcome
        self.until = until
        self.reason = reason
    }

    init(_ decision: Decision) {
        self.init(decision.outcome, until: decision.until, reason: decision.leadingReason?.codeValue)
    }

    /// The answer of a policy that doesn't have the entitlement.
    static let notInPolicy = Answer(.denied, reason: nil)

    /// The same outcome and reason. Reports count customers by these, and not by when a right ends.
    var withoutEnd: Answer { Answer(outcome, reason: reason) }

    /// The reason in reports: a code of `Reason`, or `notInPolicy`.
    package var reasonName: String { reason.name }

    /// Whether only a promise grants the right. A promise is a right that the service recorded, so that later policies
    /// can't take it.
    var isPromised: Bool { outcome == .granted && reason == .promise }
}

extension Reason.Code? {
    /// The reason in reports: its code, or `notInPolicy` if the policy doesn't have the entitlement.
    package var name: String { self?.rawValue ?? "notInPolicy" }

    /// The meaning of a deciding reason, for readers of a report who don't know the codes. It continues a sentence
    /// about a customer, and “it” is the entitlement.
    var phrase: String {
        guard let self else { return "the policy doesn't have the entitlement" }
        switch self {
        case .eraHonored: return "got the app in an honored era"
        case .eraNotHonored: return "got the app in an era that isn't honored"
        case .inDoubt: return "can't tell whether an honored era applies, so `inDoubt` in the policy decides"
        case .noHonors: return "no era grants it"
        case .nothingToCompare: return "neither the version nor the date can be compared with the policy"
        case .noAcquisition: return "no evidence proves how the app was acquired"
        case .outsideWindow: return "got the app outside the purchase dates that the policy honors"
        case .windowNeedsDate: return "the policy honors certain purchase dates, and the customer's date isn't known"
        case .honorEnded: return "the right from the era has ended"
        case .endUnknown: return "the end of the right from the era isn't known"
        case .appRefunded: return "the app was refunded"
        case .boughtAgain: return "got the app again after a refund, in an honored era"
        case .boughtAgainInDoubt: return "got the app again after a refund, perhaps in an era that isn't honored"
        case .licenseEnded: return "a volume license has ended"
        case .product: return "has a purchase that grants it"
        case .gracePeriod: return "has a subscription in its grace period"
        case .supportGrant: return "support granted it"
        case .supportGrantEnded: return "the grant by support has ended"
        case .supportRevocation: return "support revoked it"
        case .promise: return "it was promised before"
        case .promiseEnded: return "a promise has ended"
        case .noPurchase: return "has no purchase that grants it"
        case .purchasesIncomplete: return "not all purchases are known"
        case .testEnvironment: return "comes from a test environment"
        default: return self.rawValue
        }
    }
}
