extension AppStoreOperation {
    /// The operations and their parameters. The command, the control interface, scenarios and the journal share this table.
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

        package struct Row: Sendable {
            package let name: Parameter
            package let isRequired: Bool
        }

        package var parameters: [Row] {
            func rows(_ required: Parameter..., optional: [Parameter] = []) -> [Row] {
                required.map { Row(name: $0, isRequired: true) } + optional.map { Row(name: $0, isRequired: false) }
            }
            return switch self {
            case .advance: rows(optional: [.by, .to])
            case .release: rows(.platform, .build, .version, optional: [.app])
            case .setPrice: rows(.price, optional: [.app])
            case .raisePrice: rows(.product, .price, optional: [.needsConsent])
            case .withdraw, .offerAgain: rows(.product)
            case .notifyAt: rows(optional: [.url, .app])
            case .network: rows(.state)
            case .customer: rows(.customer, optional: [.storefront, .family, .devices])
            case .move: rows(.customer, .storefront)
            case .acquire:
                rows(.customer, optional: [.app, .platform, .release, .price, .way, .preordered, .licenseEnds])
            case .update: rows(.customer, optional: [.app, .platform])
            case .refundApp, .rescindConsent: rows(.customer, optional: [.app])
            case .buy: rows(.customer, .product, optional: [.quantity, .offer, .appAccountToken])
            case .cancel, .resume, .recover, .consent, .share, .unshare: rows(.customer, .product)
            case .upgrade, .downgrade, .keepPlan: rows(.customer, .product, optional: [.offer])
            case .failBilling, .leaveFamily: rows(.customer)
            case .requestRefund: rows(.customer, .product, optional: [.reason, .periodsAgo])
            case .declineRefund, .reverseRefund: rows(.customer, .product, optional: [.periodsAgo])
            case .refund: rows(.customer, .product, optional: [.percent, .reason, .periodsAgo])
            case .extend: rows(.transaction, .days)
            case .extendAll: rows(.product, .days, .request, optional: [.storefronts])
            case .setAppAccountToken: rows(.transaction, .appAccountToken)
            case .answerConsumption: rows(.transaction, .deliveryStatus, optional: [.refundPreference])
            case .finish: rows(.transaction)
            case .testNotification: rows(optional: [.app])
            }
        }

        /// One line for help texts.
        package var summary: String {
            switch self {
            case .advance: "time passes: by a length, or to an instant"
            case .release: "a build goes on sale"
            case .setPrice: "the app has another price from now on"
            case .raisePrice: "the price of a subscription rises, and subscribers are notified or asked"
            case .withdraw: "a product is removed from sale and no longer renews"
            case .offerAgain: "a product is on sale again"
            case .notifyAt: "notifications are posted to a URL; without a URL, they aren't posted"
            case .network: "notifications arrive (up), fail (down), or are answered and lost (swallowing)"
            case .customer: "an Apple Account is made"
            case .move: "a customer moves to another storefront"
            case .acquire: "a customer gets the app, or gets it again after a refund"
            case .update: "the device gets the release that is on sale"
            case .refundApp: "the App Store refunds the app"
            case .rescindConsent: "a parent withdraws the consent for the app"
            case .buy: "a purchase; a subscription that ended begins again"
            case .cancel: "automatic renewal is switched off"
            case .resume: "automatic renewal is switched on again"
            case .upgrade: "a subscription changes to a higher level at once"
            case .downgrade: "a subscription changes to a lower level at the next renewal"
            case .keepPlan: "a downgrade that waits for the renewal is canceled"
            case .failBilling: "every charge fails from now on"
            case .recover: "payment works again, and due amounts are charged"
            case .consent: "the customer agrees to a higher price"
            case .requestRefund: "the customer asks for a refund, and Apple asks the developer about consumption"
            case .declineRefund: "the App Store declines the refund"
            case .refund: "a payment is refunded, in full or a percentage"
            case .reverseRefund: "a refund is reversed"
            case .share: "the purchaser shares a product with the family"
            case .unshare: "the purchaser stops sharing"
            case .leaveFamily: "a customer leaves the family"
            case .extend: "the developer extends a renewal date"
            case .extendAll: "the developer extends the renewal dates of a product"
            case .setAppAccountToken: "the developer sets the account token of a purchase"
            case .answerConsumption: "the developer reports the consumption of a purchase"
            case .finish: "the app finishes a transaction"
            case .testNotification: "a test notification is sent"
            }
        }
    }
}
