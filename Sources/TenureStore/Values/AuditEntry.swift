package import Foundation

/// A line of the audit trail: who did what, when, to whom and why.
///
/// It outlives an erasure, and so names no person: no id of a user, an account or an artifact.
package struct AuditEntry: Sendable, Hashable {
    /// Counts up; 0 before it was written.
    package let id: Int64
    package let at: Date
    /// The name of a key.
    package let actor: String
    package let action: String
    /// A public id.
    package let customer: String?
    /// `reason` is what was given; `refused` says why nothing happened.
    package let detail: [String: String]

    package init(
        id: Int64 = 0, at: Date, actor: String, action: String, customer: String? = nil, detail: [String: String] = [:]
    ) {
        self.id = id
        self.at = at.toMillisecond
        self.actor = actor
        self.action = action
        self.customer = customer
        self.detail = detail
    }
}
