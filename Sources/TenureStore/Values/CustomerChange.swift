package import Foundation
import TenureJSON

/// A change that a person, or the app's own server, makes to a customer.
package enum CustomerChange: Sendable, Hashable {
    /// Grants an entitlement until a date, or permanently if `until` is nil.
    case grant(entitlement: String, until: Date?)
    case revoke(entitlement: String)
    /// Links the customer to a user of the app, by the ID that the app's own server uses.
    case link(user: String, Transfer)
    case unlink(user: String)
    /// Merges `other`, a public ID, into the customer.
    case merge(other: String)
    /// Undoes a merge. `other`, a public ID, becomes a separate customer again.
    case unmerge(other: String)
    /// Removes everything that is stored about the customer, except the audit trail.
    case erase

    /// The name in the audit trail.
    package var name: String {
        switch self {
        case .grant: "grant"
        case .revoke: "revoke"
        case .link: "link"
        case .unlink: "unlink"
        case .merge: "merge"
        case .unmerge: "unmerge"
        case .erase: "erase"
        }
    }

    /// What the audit trail stores about the change. It contains no user ID, because the trail outlives the customer.
    var detail: [String: String] {
        switch self {
        case .grant(let entitlement, let until):
            ["entitlement": entitlement].merging(until.map { ["until": $0.rfc3339] } ?? [:]) { $1 }
        case .revoke(let entitlement): ["entitlement": entitlement]
        case .link(_, let transfer): ["transfer": transfer.rawValue]
        case .merge(let other), .unmerge(let other): ["other": other]
        case .unlink, .erase: [:]
        }
    }

    /// The string by which the database recognizes a repeated request. Different changes have different strings, except
    /// that `Transfer` doesn't count: it's a setting of the service, so the same request may have another one later.
    var canonicalText: String {
        switch self {
        case .link(let user, _), .unlink(let user): "\(name) \(user)"
        default: "\(name) \(detail.json)"
        }
    }
}

/// What happens if a customer who is linked to one user of the app is linked to another user. An *acquisition* is one
/// Apple Account getting the app.
package enum Transfer: String, Sendable, Hashable, CaseIterable {
    /// The acquisition stays with the first user, and the link is refused.
    case never
    /// The acquisition and its promises (`StoredPromise`) move to the newest user.
    case newest
    /// The customers of both users become one customer, with everything that either of them has.
    case share
}

/// A change, and who requested it.
package struct RequestedChange: Sendable, Hashable {
    package let change: CustomerChange
    /// The name of the admin key in the request.
    package let actor: String
    /// The reason that the request gave; nil if it gave none.
    let reason: String?
    /// The time of the request.
    package let at: Date
    /// The request's `Idempotency-Key`: an ID that the caller chose, so that a repeated request changes nothing. Nil if
    /// the caller chose none.
    package let requestID: String?

    package init(_ change: CustomerChange, actor: String, reason: String? = nil, at: Date, request: String? = nil) {
        self.change = change
        self.actor = actor
        self.reason = reason
        self.at = at.toMillisecond
        requestID = request
    }
}

/// The result of a change.
package enum ChangeOutcome: Sendable, Hashable {
    /// The customer after the change. `isNew` is false if nothing changed.
    case done(Customer, isNew: Bool)
    /// The customer was erased. The values are the number of erased customers (`customers`) and of their rows, by the
    /// names in `DatabaseTransaction.hide(_:)`.
    case erased([String: Int])
    case refused(Refusal)

    /// Why a change was refused, as the audit trail names it.
    package enum Refusal: String, Sendable, Hashable, CaseIterable {
        case noSuchCustomer
        /// The other customer of a merge doesn't exist.
        case noSuchOther
        /// The two customers belong to different environments or signing authorities.
        case otherEnvironment
        /// The customer is unbound: their artifacts came without proof that they belong to the sender.
        case unboundProof
        /// The customer is linked to another user, and the service is set to `Transfer.never`.
        case linkedToAnotherUser
        /// Support separated the two customers, so only support can merge them again.
        case separated
        /// The customer isn't linked to the user from whom it should be unlinked.
        case notLinked
        /// There is no merge to undo: the other customer isn't merged into this customer.
        case notMerged
        /// The two customers to merge are one customer already.
        case alreadyMerged
        /// The merged customer would contain more accounts than one person has.
        case tooManyMerged
        /// The request ID was used for another change.
        case requestReused
    }
}
