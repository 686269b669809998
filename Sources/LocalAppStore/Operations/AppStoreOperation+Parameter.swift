extension AppStoreOperation {
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
