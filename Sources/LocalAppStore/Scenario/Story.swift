/// The verbs of scenarios for operations.
extension Verb {
    /// What the customer does, or for the first few, the store: `Ada: { buys: … }`.
    var told: String? {
        switch self {
        case .release: "releases"
        case .setPrice: "setsPrice"
        case .raisePrice: "raisesPrice"
        case .withdraw: "withdraws"
        case .offerAgain: "offersAgain"
        case .network: "network"
        case .move: "moves"
        case .acquire: "acquires"
        case .update: "updates"
        case .refundApp: "returnsApp"
        case .rescindConsent: "losesConsent"
        case .buy: "buys"
        case .cancel: "cancels"
        case .resume: "resumes"
        case .upgrade: "upgrades"
        case .downgrade: "downgrades"
        case .keepPlan: "keepsPlan"
        case .failBilling: "cannotPay"
        case .recover: "paysAgain"
        case .consent: "consents"
        case .requestRefund: "asksForRefund"
        case .declineRefund: "isDeniedRefund"
        case .refund: "isRefunded"
        case .reverseRefund: "losesRefund"
        case .share: "shares"
        case .unshare: "unshares"
        case .leaveFamily: "leavesFamily"
        case .advance, .notifyAt, .customer, .extend, .extendAll, .setAppAccountToken, .answerConsumption, .finish,
            .testNotification:
            nil
        }
    }

    var isOfCustomer: Bool { particulars.contains { $0.name == .customer } }

    /// The value of the verb: `buys: com.example.calculator.yearly`.
    var object: Particular? {
        switch self {
        case .setPrice: .price
        case .network: .state
        case .release, .acquire, .update: .platform
        case .move: .storefront
        default: particulars.contains { $0.name == .product } ? .product : nil
        }
    }

    static func told(_ word: String, byCustomer: Bool) -> Verb? {
        allCases.first { $0.told == word && $0.isOfCustomer == byCustomer }
    }

    static func words(byCustomer: Bool) -> [String] {
        allCases.filter { $0.isOfCustomer == byCustomer }.compactMap(\.told)
    }
}
