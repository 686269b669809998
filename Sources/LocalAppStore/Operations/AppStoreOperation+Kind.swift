extension AppStoreOperation {
    /// The operations, such as a purchase or a refund, with their parameters. `tenure local-store do`, the control
    /// interface, scenario files and the journal share this table.
    package enum Kind: String, CaseIterable, Sendable, Hashable {
        case advance
        // Operations of the App Store and the developer.
        case release, setPrice, raisePrice, withdraw, offerAgain, notifyAt, network
        // Operations of customers that concern the app.
        case customer, move, acquire, update, refundApp, rescindConsent
        // Purchases.
        case buy, cancel, resume, upgrade, downgrade, keepPlan, failBilling, recover, consent
        case requestRefund, declineRefund, refund, reverseRefund
        case share, unshare, leaveFamily
        // Operations that a developer's server can request with the App Store Server API.
        case extend, extendAll, setAppAccountToken, answerConsumption, finish, testNotification

        /// A parameter that an operation accepts.
        package struct AcceptedParameter: Sendable {
            package let name: Parameter
            package let isRequired: Bool
        }

        /// The parameters that the operation accepts, the required ones first.
        package var parameters: [AcceptedParameter] { tableRow.parameters }

        /// One line for help texts.
        package var summary: String { tableRow.summary }

        /// The operation's verb in a scenario file, such as `buys` in `Ada: { buys: … }`. Nil if scenario files can't
        /// contain the operation.
        var scenarioWord: String? { tableRow.scenarioWord }

        /// What the table says about the operation.
        private typealias Row = (summary: String, scenarioWord: String?, parameters: [AcceptedParameter])

        private var tableRow: Row {
            func row(
                _ summary: String, word: String? = nil, _ required: Parameter..., optional: [Parameter] = []
            ) -> Row {
                (
                    summary, word,
                    required.map { AcceptedParameter(name: $0, isRequired: true) }
                        + optional.map { AcceptedParameter(name: $0, isRequired: false) }
                )
            }
            return switch self {
            case .advance: row("time passes: by a length, or to an instant", optional: [.by, .to])
            case .release: row("a build goes on sale", word: "releases", .platform, .build, .version, optional: [.app])
            case .setPrice: row("the app has another price from now on", word: "setsPrice", .price, optional: [.app])
            case .raisePrice:
                row(
                    "the price of a subscription rises, and subscribers are notified or asked", word: "raisesPrice",
                    .product, .price, optional: [.needsConsent])
            case .withdraw: row("a product is removed from sale and no longer renews", word: "withdraws", .product)
            case .offerAgain: row("a product is on sale again", word: "offersAgain", .product)
            case .notifyAt:
                row("notifications are posted to a URL; without a URL, they aren't posted", optional: [.url, .app])
            case .network:
                row(
                    "notifications arrive (up), fail (down), or are answered and lost (swallowing)", word: "network",
                    .state)
            case .customer: row("an Apple Account is created", .customer, optional: [.storefront, .family, .devices])
            case .move: row("a customer moves to another storefront", word: "moves", .customer, .storefront)
            case .acquire:
                row(
                    "a customer gets the app, or gets it again after a refund", word: "acquires", .customer,
                    optional: [.app, .platform, .release, .price, .way, .preordered, .licenseEnds])
            case .update:
                row(
                    "the device gets the release that is on sale", word: "updates", .customer,
                    optional: [.app, .platform])
            case .refundApp: row("the App Store refunds the app", word: "returnsApp", .customer, optional: [.app])
            case .rescindConsent:
                row("a parent withdraws the consent for the app", word: "losesConsent", .customer, optional: [.app])
            case .buy:
                row(
                    "a purchase; a subscription that ended begins again", word: "buys", .customer, .product,
                    optional: [.quantity, .offer, .appAccountToken])
            case .cancel: row("automatic renewal is switched off", word: "cancels", .customer, .product)
            case .resume: row("automatic renewal is switched on again", word: "resumes", .customer, .product)
            case .upgrade:
                row(
                    "a subscription changes to a higher level at once", word: "upgrades", .customer, .product,
                    optional: [.offer])
            case .downgrade:
                row(
                    "a subscription changes to a lower level at the next renewal", word: "downgrades", .customer,
                    .product, optional: [.offer])
            case .keepPlan:
                row(
                    "a downgrade that waits for the renewal is canceled", word: "keepsPlan", .customer, .product,
                    optional: [.offer])
            case .failBilling: row("every charge fails from now on", word: "cannotPay", .customer)
            case .recover:
                row("payment works again, and due amounts are charged", word: "paysAgain", .customer, .product)
            case .consent: row("the customer agrees to a higher price", word: "consents", .customer, .product)
            case .requestRefund:
                row(
                    "the customer asks for a refund, and Apple asks the developer about consumption",
                    word: "asksForRefund", .customer, .product, optional: [.reason, .periodsAgo])
            case .declineRefund:
                row(
                    "the App Store declines the refund", word: "isDeniedRefund", .customer, .product,
                    optional: [.periodsAgo])
            case .refund:
                row(
                    "a payment is refunded, in full or a percentage", word: "isRefunded", .customer, .product,
                    optional: [.percent, .reason, .periodsAgo])
            case .reverseRefund:
                row("a refund is reversed", word: "losesRefund", .customer, .product, optional: [.periodsAgo])
            case .share: row("the purchaser shares a product with the family", word: "shares", .customer, .product)
            case .unshare: row("the purchaser stops sharing", word: "unshares", .customer, .product)
            case .leaveFamily: row("a customer leaves the family", word: "leavesFamily", .customer)
            case .extend: row("the developer extends a renewal date", .transaction, .days)
            case .extendAll:
                row(
                    "the developer extends the renewal dates of a product", .product, .days, .request,
                    optional: [.storefronts])
            case .setAppAccountToken:
                row("the developer sets the account token of a purchase", .transaction, .appAccountToken)
            case .answerConsumption:
                row(
                    "the developer reports the consumption of a purchase", .transaction, .deliveryStatus,
                    optional: [.refundPreference])
            case .finish: row("the app finishes a transaction", .transaction)
            case .testNotification: row("a test notification is sent", optional: [.app])
            }
        }
    }

    /// The names of all parameters of operations. `Kind.parameters` lists the ones of each operation.
    package enum Parameter: String, CaseIterable, Sendable, Hashable {
        case app, customer, product, platform, build, version, release, price, storefront, storefronts, family, devices
        case by, to, days
        case way, preordered, licenseEnds
        case quantity, offer, appAccountToken
        case needsConsent, reason, percent, periodsAgo
        case url, state
        case transaction, request, deliveryStatus, refundPreference
    }
}

/// The words for operations in scenario files.
extension AppStoreOperation.Kind {
    /// Whether the operation has the parameter `customer`. A scenario file lists such operations under the customer's
    /// name, and all others under `store`.
    var concernsCustomer: Bool { parameters.contains { $0.name == .customer } }

    /// The parameter that the value of the word sets: in `buys: com.example.calculator.yearly`, the `product`. Nil if
    /// the word takes no value.
    var mainParameter: AppStoreOperation.Parameter? {
        switch self {
        case .setPrice: .price
        case .network: .state
        case .release, .acquire, .update: .platform
        case .move: .storefront
        default: parameters.contains { $0.name == .product } ? .product : nil
        }
    }

    /// Finds the operation with this word, either under a customer's name or under `store`. Nil for an unknown word.
    init?(scenarioWord word: String, byCustomer: Bool) {
        guard let kind = Self.allCases.first(where: { $0.scenarioWord == word && $0.concernsCustomer == byCustomer })
        else { return nil }
        self = kind
    }

    /// Returns the words for the operations under a customer's name, or for those under `store`.
    static func words(byCustomer: Bool) -> [String] {
        allCases.filter { $0.concernsCustomer == byCustomer }.compactMap(\.scenarioWord)
    }
}
