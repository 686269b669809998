extension AppStoreOperation {
    /// The parameters of operations.
    package enum Parameter: String, CaseIterable, Sendable, Hashable {
        case app, customer, product, platform, build, version, release, price, storefront, storefronts, family, devices
        case by, to, days
        case way, preordered, licenseEnds
        case quantity, offer, appAccountToken
        case needsConsent, reason, percent, periodsAgo
        case url, state
        case transaction, request, deliveryStatus, refundPreference

        /// What to write, for help texts.
        var example: String {
            switch self {
            case .app: "com.example.calculator"
            case .customer: "Ada"
            case .product: "com.example.calculator.yearly"
            case .platform: "iOS"
            case .build, .release: "37"
            case .version: "1.4"
            case .price: "4.99 or free"
            case .storefront: "USA"
            case .storefronts: "USA,DEU"
            case .family: "Lovelace"
            case .devices: "2"
            case .by: "31d"
            case .to: "2026-11-20T12:00:00Z"
            case .days: "14"
            case .way: "purchase, promoCode or volumePurchase"
            case .preordered, .licenseEnds: "2014-01-10"
            case .quantity: "1"
            case .offer: "comeback"
            case .appAccountToken: "a UUID"
            case .needsConsent: "true"
            case .reason: "unintendedPurchase (refund: issueInTheApp or other)"
            case .percent: "50"
            case .periodsAgo: "1"
            case .url: "http://127.0.0.1:8080/v1/notifications/apple"
            case .state: "up, down or swallowing"
            case .transaction: "410000000000001"
            case .request: "an ID that you choose"
            case .deliveryStatus: "DELIVERED"
            case .refundPreference: "DECLINE"
            }
        }
    }
}
