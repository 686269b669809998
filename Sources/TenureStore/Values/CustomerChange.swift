package import Foundation
import TenureCore
import TenureJSON

/// What a person, or the app's own server, does to a customer's record.
package enum CustomerChange: Sendable, Hashable {
    /// `until` nil: for good.
    case grant(entitlement: String, until: Date?)
    case revoke(entitlement: String)
    case link(user: String, Transfer)
    case unlink(user: String)
    case merge(other: String)
    /// `other`, by public id, is a customer of their own again.
    case unmerge(other: String)
    case erase

    /// As the audit trail calls it.
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

    /// What the audit trail says of it; no id of a user, since that trail outlives them.
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

    /// Tells two acts apart.
    var spelling: String {
        switch self {
        case .link(let user, _), .unlink(let user): "\(name) \(user)"
        default: "\(name) \(detail.json)"
        }
    }
}

/// What happens where an acquisition that is linked to one user is linked to another.
package enum Transfer: String, Sendable, Hashable, CaseIterable {
    /// It stays with the first; the link is refused.
    case never
    /// It goes to the newest, with its promises, and is the first one's no more.
    case newest
    /// Both users are one customer from then on, with all that either has.
    case share
}

/// An act with who asks for it.
package struct RequestedChange: Sendable, Hashable {
    package let change: CustomerChange
    /// The name of a key.
    package let actor: String
    package let reason: String?
    package let at: Date
    /// Made by who asks, so that asking again does nothing twice.
    package let request: String?

    package init(_ change: CustomerChange, actor: String, reason: String? = nil, at: Date, request: String? = nil) {
        self.change = change
        self.actor = actor
        self.reason = reason
        self.at = at.toMillisecond
        self.request = request
    }
}

/// What came of an act.
package enum ChangeOutcome: Sendable, Hashable {
    /// The customer as they are now. `isNew`: something changed.
    case done(Customer, isNew: Bool)
    /// How many entries of each kind are gone.
    case erased([String: Int])
    case refused(Refusal)

    /// Why an act was refused; the audit trail has it by that name.
    package enum Refusal: String, Sendable, Hashable, CaseIterable {
        case noSuchCustomer
        case noSuchOther
        /// Of another environment or authority.
        case otherEnvironment
        /// A record of what somebody showed who did not prove that it is theirs.
        case unboundProof
        case linkedToAnotherUser
        /// Parted by hand: only a person joins them again.
        case separated
        case notLinked
        case notMerged
        case alreadyMerged
        /// More would be one customer than one person is.
        case tooManyMerged
        /// The request's id stands for another act.
        case requestReused
    }
}
