package import TenureCore

/// An act of support with the words that go with it.
package struct RecordedSupportAct: Sendable, Hashable {
    package let act: SupportAct
    package let reason: String?
    /// The name of the key that did it.
    package let actor: String?

    package init(act: SupportAct, reason: String? = nil, actor: String? = nil) {
        self.act = act
        self.reason = reason
        self.actor = actor
    }
}
