import TenureCore

extension Reason.Code? {
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

extension Set<String> {
    /// A clause about these products, which the new policy no longer lists for an entitlement, such as `` `a` and `b`
    /// no longer grant it``.
    var removal: String {
        let maximumNamed = 3
        let named = sorted().prefix(maximumNamed).map { "`\($0)`" }
        let others = count > maximumNamed ? ["\((count - maximumNamed).grouped("other product"))"] : []
        return "\((named + others).listed) no longer grant\(count == 1 ? "s" : "") it"
    }
}

extension Change {
    /// The label of a row in the report for a terminal.
    var phrase: String {
        switch self {
        case .gains: "gain"
        case .loses: "lose"
        case .changesOutcome: "other outcome"
        case .changesReason: "other reason"
        case .same: "as before"
        }
    }
}
