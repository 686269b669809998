public import Foundation

/// What a person at the support desk did with an entitlement. The latest act on an entitlement counts.
public struct SupportAct: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        case grant
        /// Beats everything else until a later grant.
        case revocation
    }

    public let kind: Kind
    public let entitlement: String
    public let date: Date
    /// When a grant ends; nil: for good.
    public let until: Date?

    package init(_ kind: Kind, of entitlement: String, date: Date, until: Date? = nil) {
        self.kind = kind
        self.entitlement = entitlement
        self.date = date
        self.until = until
    }
}
