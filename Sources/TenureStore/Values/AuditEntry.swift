package import Foundation

/// An entry of the audit trail: who changed what, when, for which customer and why.
///
/// It outlives an erasure, so it contains no ID of a user, an account or an artifact.
package struct AuditEntry: Sendable, Hashable {
    /// The row ID of the entry; 0 before it is written.
    package let id: Int64
    /// When the change was made or refused.
    package let at: Date
    /// Who made the change: the name of the admin key in the request, `adminKey` for the key in the configuration, or
    /// `command` for a `tenure` command on the database.
    package let actor: String
    /// What was done, such as `grant` or `createKey`.
    package let action: String
    /// The public ID of the customer whom the entry is about; nil if it isn't about one, or if the request had no valid
    /// public ID.
    package let customer: String?
    /// Further fields by name. `reason` is the reason that the request gave; `refused` is why nothing was changed.
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
