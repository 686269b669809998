package import Foundation

/// An entry of the audit trail: who changed what, when, for which customer and why.
///
/// It outlives an erasure, so it contains no ID of a user, an account or an artifact.
package struct AuditEntry: Sendable, Hashable {
    /// The row ID of the entry; 0 before it is written.
    package let id: Int64
    package let at: Date
    /// The name of the admin key in the request: `adminKey` for the configured key. `command` for a command on the
    /// database.
    package let actor: String
    /// What was done, such as `grant` or `createKey`.
    package let action: String
    /// The public ID of the customer.
    package let customer: String?
    /// Further fields. `reason` is the given reason; `refused` is the reason why nothing was changed.
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
