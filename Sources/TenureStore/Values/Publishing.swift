package import Foundation

/// A request to publish a policy, with the maximum numbers of customers who may gain or lose something by it.
package struct RequestedPublication: Sendable, Hashable {
    /// The policy as compact JSON, as `tenure policy compile` writes it.
    package let compiled: [UInt8]
    /// The hash that identifies the policy.
    package let sha256: [UInt8]
    let action: StoredPublication.Action
    /// The time of the request.
    package let at: Date
    /// The name of the admin key in the request; `service` for the first policy of a new database.
    package let actor: String
    /// The author of the policy, as given with the publication.
    let author: String?
    /// The reason that the request gave; nil if it gave none.
    let reason: String?
    /// The ID of the rehearsal (dry run of the policy) to which the publication refers; nil if it refers to none.
    package let rehearsal: String?
    /// The ID of the publication that was in effect at the rehearsal. If another publication is in effect by now, the
    /// request is refused. 0 for the first policy of a new database.
    let base: Int64
    /// For a rollback, the ID of the publication to which it returns: the promises that later publications ended are
    /// restored. Nil for other publications, which restore none.
    package let restoringAfter: Int64?
    /// The maximum number of customers who may lose something.
    let lossAllowance: Int
    /// The maximum number of customers who may gain something; nil for any number.
    let gainAllowance: Int?
    /// Whether promises of entitlements that the new policy doesn't grant are ended. If false, customers keep them.
    package let endsPromises: Bool

    package init(
        compiled: [UInt8], sha256: [UInt8], action: StoredPublication.Action, at: Date, actor: String,
        author: String? = nil, reason: String?, rehearsal: String? = nil, base: Int64, restoringAfter: Int64? = nil,
        lossAllowance: Int = 0, gainAllowance: Int? = nil, endsPromises: Bool = false
    ) {
        self.compiled = compiled
        self.sha256 = sha256
        self.action = action
        self.at = at.toMillisecond
        self.actor = actor
        self.author = author
        self.reason = reason
        self.rehearsal = rehearsal
        self.base = base
        self.restoringAfter = restoringAfter
        self.lossAllowance = lossAllowance
        self.gainAllowance = gainAllowance
        self.endsPromises = endsPromises
    }
}

/// The result of a request to publish a policy.
package enum PublicationOutcome: Sendable, Hashable {
    case published(StoredPublication)
    /// Another publication took effect since the rehearsal.
    case overtaken
    /// More customers than allowed would lose something: this many.
    case tooManyLosing(Int)
    /// More customers than allowed would gain something: this many.
    case tooManyGaining(Int)
    /// Too many customers changed since they were last evaluated, or have promises that aren't marked as ended yet. Or
    /// an earlier publication isn't finished.
    case behind
}

/// A publication, which put a version of the policy into effect.
package struct StoredPublication: Sendable, Hashable {
    /// Why the policy took effect.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        /// The first policy of a new database.
        case start
        /// A person or a build machine published the policy.
        case publish
        /// An older version is in effect again.
        case rollback
    }

    /// The ID of the publication: a number that grows with each publication.
    package let id: Int64
    /// The number of the policy's version. A rollback has the number of an older version again.
    package let version: Int64
    package let action: Action
    package let at: Date
    /// The name of the admin key in the request; `service` for the first policy of a new database.
    package let actor: String
    /// The author of the policy, as given with the publication.
    package var author: String?
    /// The reason that the request gave; nil if it gave none.
    package var reason: String?
    /// The ID of the rehearsal (dry run of the policy) to which the publication refers; nil if it refers to none.
    package var rehearsal: String?
    package var counts = Counts()

    /// The numbers of affected customers and promises.
    package struct Counts: Sendable, Hashable {
        /// All production customers, without unbound customers (`DatabaseTransaction`).
        package var customers = 0
        /// Customers who gained something.
        package var gaining = 0
        /// Customers who lost something.
        package var losing = 0
        /// Promises (`StoredPromise`) that the publication ended.
        package var ended = 0
        /// Promises that an earlier publication ended, and that count again since this publication.
        package var restored = 0
    }
}
