/// The words for operations in scenario files.
extension AppStoreOperation.Kind {
    /// The word in a scenario, such as `buys` in `Ada: { buys: … }`. The subject is a customer or the store. Nil if
    /// scenarios don't have the operation.
    var scenarioWord: String? {
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

    var isOfCustomer: Bool { parameters.contains { $0.name == .customer } }

    /// The parameter that the value of the word sets: `buys: com.example.calculator.yearly`.
    var mainParameter: AppStoreOperation.Parameter? {
        switch self {
        case .setPrice: .price
        case .network: .state
        case .release, .acquire, .update: .platform
        case .move: .storefront
        default: parameters.contains { $0.name == .product } ? .product : nil
        }
    }

    init?(scenarioWord word: String, byCustomer: Bool) {
        guard let kind = Self.allCases.first(where: { $0.scenarioWord == word && $0.isOfCustomer == byCustomer }) else {
            return nil
        }
        self = kind
    }

    static func words(byCustomer: Bool) -> [String] {
        allCases.filter { $0.isOfCustomer == byCustomer }.compactMap(\.scenarioWord)
    }
}
