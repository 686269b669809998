extension AppStoreOperation {
    /// The operations and their parameters. `tenure local-store do`, the control interface, scenarios and the journal
    /// share this table.
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
        // What the App Store Server API changes.
        case extend, extendAll, setAppAccountToken, answerConsumption, finish, testNotification

        /// A parameter that an operation accepts.
        package struct AcceptedParameter: Sendable {
            package let name: Parameter
            package let isRequired: Bool
        }

        package var parameters: [AcceptedParameter] { entry.parameters }

        /// One line for help texts.
        package var summary: String { entry.summary }

        /// The word in a scenario, such as `buys` in `Ada: { buys: … }`. The subject is a customer or the store. Nil if
        /// scenarios don't have the operation.
        var scenarioWord: String? { entry.scenarioWord }

        /// What the table says about one operation.
        private struct Entry {
            let summary: String
            let scenarioWord: String?
            let parameters: [AcceptedParameter]

            init(_ summary: String, word: String? = nil, _ required: Parameter..., optional: [Parameter] = []) {
                self.summary = summary
                scenarioWord = word
                parameters =
                    required.map { AcceptedParameter(name: $0, isRequired: true) }
                    + optional.map { AcceptedParameter(name: $0, isRequired: false) }
            }
        }

        private var entry: Entry {
            switch self {
            case .advance: Entry("time passes: by a length, or to an instant", optional: [.by, .to])
            case .release:
                Entry("a build goes on sale", word: "releases", .platform, .build, .version, optional: [.app])
            case .setPrice: Entry("the app has another price from now on", word: "setsPrice", .price, optional: [.app])
            case .raisePrice:
                Entry(
                    "the price of a subscription rises, and subscribers are notified or asked", word: "raisesPrice",
                    .product, .price, optional: [.needsConsent])
            case .withdraw: Entry("a product is removed from sale and no longer renews", word: "withdraws", .product)
            case .offerAgain: Entry("a product is on sale again", word: "offersAgain", .product)
            case .notifyAt:
                Entry("notifications are posted to a URL; without a URL, they aren't posted", optional: [.url, .app])
            case .network:
                Entry(
                    "notifications arrive (up), fail (down), or are answered and lost (swallowing)", word: "network",
                    .state)
            case .customer: Entry("an Apple Account is created", .customer, optional: [.storefront, .family, .devices])
            case .move: Entry("a customer moves to another storefront", word: "moves", .customer, .storefront)
            case .acquire:
                Entry(
                    "a customer gets the app, or gets it again after a refund", word: "acquires", .customer,
                    optional: [.app, .platform, .release, .price, .way, .preordered, .licenseEnds])
            case .update:
                Entry(
                    "the device gets the release that is on sale", word: "updates", .customer,
                    optional: [.app, .platform])
            case .refundApp: Entry("the App Store refunds the app", word: "returnsApp", .customer, optional: [.app])
            case .rescindConsent:
                Entry("a parent withdraws the consent for the app", word: "losesConsent", .customer, optional: [.app])
            case .buy:
                Entry(
                    "a purchase; a subscription that ended begins again", word: "buys", .customer, .product,
                    optional: [.quantity, .offer, .appAccountToken])
            case .cancel: Entry("automatic renewal is switched off", word: "cancels", .customer, .product)
            case .resume: Entry("automatic renewal is switched on again", word: "resumes", .customer, .product)
            case .upgrade:
                Entry(
                    "a subscription changes to a higher level at once", word: "upgrades", .customer, .product,
                    optional: [.offer])
            case .downgrade:
                Entry(
                    "a subscription changes to a lower level at the next renewal", word: "downgrades", .customer,
                    .product, optional: [.offer])
            case .keepPlan:
                Entry(
                    "a downgrade that waits for the renewal is canceled", word: "keepsPlan", .customer, .product,
                    optional: [.offer])
            case .failBilling: Entry("every charge fails from now on", word: "cannotPay", .customer)
            case .recover:
                Entry("payment works again, and due amounts are charged", word: "paysAgain", .customer, .product)
            case .consent: Entry("the customer agrees to a higher price", word: "consents", .customer, .product)
            case .requestRefund:
                Entry(
                    "the customer asks for a refund, and Apple asks the developer about consumption",
                    word: "asksForRefund", .customer, .product, optional: [.reason, .periodsAgo])
            case .declineRefund:
                Entry(
                    "the App Store declines the refund", word: "isDeniedRefund", .customer, .product,
                    optional: [.periodsAgo])
            case .refund:
                Entry(
                    "a payment is refunded, in full or a percentage", word: "isRefunded", .customer, .product,
                    optional: [.percent, .reason, .periodsAgo])
            case .reverseRefund:
                Entry("a refund is reversed", word: "losesRefund", .customer, .product, optional: [.periodsAgo])
            case .share: Entry("the purchaser shares a product with the family", word: "shares", .customer, .product)
            case .unshare: Entry("the purchaser stops sharing", word: "unshares", .customer, .product)
            case .leaveFamily: Entry("a customer leaves the family", word: "leavesFamily", .customer)
            case .extend: Entry("the developer extends a renewal date", .transaction, .days)
            case .extendAll:
                Entry(
                    "the developer extends the renewal dates of a product", .product, .days, .request,
                    optional: [.storefronts])
            case .setAppAccountToken:
                Entry("the developer sets the account token of a purchase", .transaction, .appAccountToken)
            case .answerConsumption:
                Entry(
                    "the developer reports the consumption of a purchase", .transaction, .deliveryStatus,
                    optional: [.refundPreference])
            case .finish: Entry("the app finishes a transaction", .transaction)
            case .testNotification: Entry("a test notification is sent", optional: [.app])
            }
        }
    }
}
