import TenureCore

extension Reason.Code? {
    /// What a deciding reason means, for somebody who has never read its code.
    package var phrase: String {
        guard let self else { return "the policy does not name it" }
        switch self {
        case .eraHonored: return "got the app in an era that is honored"
        case .eraNotHonored: return "got the app in an era that is not honored"
        case .inDoubt: return "in doubt between an honored era and another"
        case .noHonors: return "no era gives it"
        case .nothingToCompare: return "neither version nor date can be compared"
        case .noAcquisition: return "nothing says how the app was got"
        case .outsideWindow: return "got the app outside the dates that are honored"
        case .windowNeedsDate: return "the dates that are honored need a date of purchase"
        case .honorEnded: return "what the era gave has ended"
        case .endUnknown: return "how long the era gives it is not known"
        case .appRefunded: return "the app was refunded"
        case .boughtAgain: return "had the app again after a refund, while it was honored"
        case .boughtAgainInDoubt: return "had the app again after a refund, perhaps too late"
        case .licenseEnded: return "a volume license has ended"
        case .product: return "has a purchase that gives it"
        case .gracePeriod: return "has a subscription in its grace period"
        case .supportGrant: return "support gave it"
        case .supportGrantEnded: return "what support gave has ended"
        case .supportRevocation: return "support withdrew it"
        case .promise: return "it was promised before"
        case .promiseEnded: return "a promise has ended"
        case .noPurchase: return "has no purchase that gives it"
        case .purchasesIncomplete: return "not all purchases are known"
        case .testEnvironment: return "comes from a test environment"
        default: return self.rawValue
        }
    }
}

extension Change {
    package var phrase: String {
        switch self {
        case .gains: "gain"
        case .loses: "lose"
        case .changesOutcome: "other outcome"
        case .changesReason: "other reason"
        case .same: "as before"
        }
    }
}
