public import Foundation
public import TenureCore

/// Registers rights by version or date, without a policy.
extension Tenure {
    /// Grants an entitlement to customers who first got the app in one of these versions and before the date. Pass
    /// `versions`, `purchasedBefore` or both; a nil parameter is ignored. Use a policy instead if you can.
    /// `VersionRights` says why, and explains the parameters.
    ///
    /// The grant lasts until the process ends, so register at each start, before the first call of `allows(_:)`.
    public func register(
        entitlement: String, versions: [String]? = nil, purchasedBefore: Date? = nil, on platform: Platform? = nil
    ) async throws(Tenure.InvalidVersionList) {
        try await engine.register(
            entitlement: entitlement, versions: versions, purchasedBefore: purchasedBefore, on: platform)
    }

    /// Removes everything that was registered for an entitlement. Grants from other sources don't change.
    public func unregister(entitlement: String) async { await engine.unregister(entitlement: entitlement) }
}

extension Engine {
    /// Adds a rule, and publishes the answers that it changes.
    fileprivate func register(
        entitlement: String, versions: [String]?, purchasedBefore: Date?, on platform: Platform?
    ) throws(Tenure.InvalidVersionList) {
        load()
        try device.facts.lists.register(
            entitlement: entitlement, versions: versions, purchasedBefore: purchasedBefore, on: platform)
        device.post()
    }

    fileprivate func unregister(entitlement: String) {
        load()
        device.facts.lists.unregister(entitlement: entitlement)
        device.post()
    }
}
