package import TenureCore

/// A grant or revocation by support, with its reason.
package struct StoredSupportGrant: Sendable, Hashable {
    package let grant: SupportGrant
    /// The reason that the request gave; nil if it gave none.
    package let reason: String?
    /// The name of the admin key in the request; nil if it isn't known.
    package let actor: String?
}
