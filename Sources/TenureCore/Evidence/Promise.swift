public import Foundation

/// A customer's right to an entitlement, recorded so that later policy edits can't take it. The customer has the right
/// because of the era (period with one business model) in which the customer got the app. Promises exist only in
/// production.
public struct Promise: Sendable, Hashable {
    /// The name of the entitlement when the promise was made (rule H2 of Docs/decision-rules.md).
    public let entitlement: String
    /// The acquisition that has the right. Only its refund or the end of its license ends a promise early (rule H3).
    public let acquisition: AcquisitionKey
    /// The version of the policy that gave the right. This version also decides whether a refund or an expired license
    /// ends the promise.
    public let policy: Policy
    /// When the right ends, exclusive; nil if it is permanent.
    public let until: Date?

    package init(entitlement: String, acquisition: AcquisitionKey, policy: Policy, until: Date?) {
        self.entitlement = entitlement
        self.acquisition = acquisition
        self.policy = policy
        self.until = until
    }
}
