public import Foundation

/// A right that an era gave in production, recorded so that later policy edits can't take it.
public struct Promise: Sendable, Hashable {
    public let entitlement: String
    public let acquisition: AcquisitionKey
    /// The version of the policy that gave it. Under it, a refund of the app or the end of a license ends the promise.
    public let policy: Policy
    /// Nil: permanent.
    public let until: Date?

    package init(entitlement: String, acquisition: AcquisitionKey, policy: Policy, until: Date?) {
        self.entitlement = entitlement
        self.acquisition = acquisition
        self.policy = policy
        self.until = until
    }
}
