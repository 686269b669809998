public import Foundation
public import TenureCore

extension Tenure {
    /// Gives an entitlement to those who first got the app in one of these versions and before that instant: for those
    /// who come from lists of versions. See `VersionRights`, and prefer a policy.
    ///
    /// It holds until the app ends, so register at each start, before the first question.
    public func register(
        entitlement: String, versions: [String]? = nil, purchasedBefore: Date? = nil, on platform: Platform? = nil
    ) async throws(Tenure.InvalidVersionList) {
        try await engine.register(
            entitlement: entitlement, versions: versions, purchasedBefore: purchasedBefore, on: platform)
    }

    /// Takes back everything that was registered for an entitlement; what else gives it stays.
    public func unregister(entitlement: String) async { await engine.unregister(entitlement: entitlement) }
}

extension Engine {
    fileprivate func register(
        entitlement: String, versions: [String]?, purchasedBefore: Date?, on platform: Platform?
    ) throws(Tenure.InvalidVersionList) {
        load()
        try lists.register(
            entitlement: entitlement, versions: versions, purchasedBefore: purchasedBefore, on: platform)
        post()
    }

    fileprivate func unregister(entitlement: String) {
        load()
        lists.unregister(entitlement: entitlement)
        post()
    }
}
