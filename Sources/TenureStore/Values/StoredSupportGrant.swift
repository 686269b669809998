package import TenureCore

/// An grant of support with the words that go with it.
package struct StoredSupportGrant: Sendable, Hashable {
    package let grant: SupportGrant
    package let reason: String?
    /// The name of the key that did it.
    package let actor: String?

    package init(grant: SupportGrant, reason: String? = nil, actor: String? = nil) {
        self.grant = grant
        self.reason = reason
        self.actor = actor
    }
}
