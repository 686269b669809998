package import TenureCore

/// A grant or revocation by support, with its reason.
package struct StoredSupportGrant: Sendable, Hashable {
    package let grant: SupportGrant
    package let reason: String?
    /// The name of the admin key in the request.
    package let actor: String?
}
