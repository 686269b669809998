public import Foundation

/// Support's decision to give an entitlement to a customer, or to take it away. The latest decision applies (rule G3
/// of Docs/decision-rules.md).
public struct SupportGrant: Sendable, Hashable {
    /// Whether support gave the entitlement or took it away.
    public enum Kind: String, Sendable, Hashable {
        /// Gives the entitlement, in addition to purchases and eras.
        case grant
        /// Overrides every purchase, era and promise until a later grant.
        case revocation
    }

    /// Whether support gave the entitlement or took it away.
    public let kind: Kind
    /// The name of the entitlement in the policy.
    public let entitlement: String
    /// When support decided.
    public let date: Date
    /// When a grant ends, exclusive; nil if it is permanent.
    public let until: Date?

    package init(_ kind: Kind, of entitlement: String, date: Date, until: Date? = nil) {
        self.kind = kind
        self.entitlement = entitlement
        self.date = date
        self.until = until
    }

    /// Whether this decision of support replaces the other decision. The later decision replaces the earlier one. Of
    /// two decisions at the same time, a revocation replaces a grant, and a longer grant replaces a shorter grant.
    func supersedes(_ other: SupportGrant) -> Bool {
        if date != other.date { return date > other.date }
        if kind != other.kind { return kind == .revocation }
        return (until ?? .distantFuture) > (other.until ?? .distantFuture)
    }
}
