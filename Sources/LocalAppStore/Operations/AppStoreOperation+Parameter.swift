extension AppStoreOperation {
    /// The names of all parameters of operations. `Kind` says which operation takes which.
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
