package import Foundation

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

/// The result of a rehearsal: a dry run of a policy over all customers.
package struct StoredRehearsal: Sendable, Hashable {
    /// The public ID of the rehearsal (`reh_…`).
    package let id: String
    /// The ID of the publication that was in effect at the rehearsal.
    package let base: Int64
    /// The hash of the rehearsed policy.
    package let sha256: [UInt8]
    package let at: Date
    /// The name of the admin key in the request.
    package let actor: String
    /// The number of customers who would gain something.
    package let gaining: Int
    /// The number of customers who would lose something if the publication ended promises.
    package let losing: Int
    /// The number of customers who would lose something even if the publication kept all promises.
    package let losingWithPromises: Int
    /// The report in JSON.
    package let report: [UInt8]

    package init(
        id: String = PublicID.rehearsal.random(), base: Int64, sha256: [UInt8], at: Date, actor: String, gaining: Int,
        losing: Int, losingWithPromises: Int, report: [UInt8]
    ) {
        self.id = id
        self.base = base
        self.sha256 = sha256
        self.at = at.toMillisecond
        self.actor = actor
        self.gaining = gaining
        self.losing = losing
        self.losingWithPromises = losingWithPromises
        self.report = report
    }
}

/// A version of the policy that was in effect. The database keeps all versions, because a promise (`StoredPromise`) is
/// evaluated under the version that made it.
package struct StoredPolicy: Sendable, Hashable {
    /// The version: 1 for the first policy, 2 for the second policy.
    package let version: Int64
    /// The hash that identifies the policy.
    package let sha256: [UInt8]
    /// The policy as compact JSON, as `tenure policy compile` writes it.
    package let compiled: [UInt8]
    /// When the version was first published.
    package let recordedAt: Date
}
