package import Foundation

/// A publication, which put a version of the policy into effect.
package struct StoredPublication: Sendable, Hashable {
    /// Why the policy took effect.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        /// The first policy of a new database.
        case start
        case publish
        /// An older version is in effect again.
        case rollback
    }

    /// The number of the publication, from 1.
    package let id: Int64
    /// The version of the policy.
    package let version: Int64
    package let action: Action
    package let at: Date
    /// The name of the admin key in the request; `service` for the first policy of a new database.
    package let actor: String
    /// The author of the policy, as given with the publication.
    package var author: String?
    package var reason: String?
    /// The ID of the rehearsal to which the publication refers.
    package var rehearsal: String?
    package var counts = Counts()

    /// The numbers of affected customers and promises.
    package struct Counts: Sendable, Hashable {
        /// All evaluated customers.
        package var customers = 0
        package var gaining = 0
        package var losing = 0
        /// Promises that the publication ended.
        package var ended = 0
        /// Promises that an earlier publication ended, and that count again now.
        package var restored = 0
    }
}

/// The result of a rehearsal over all customers.
package struct StoredRehearsal: Sendable, Hashable {
    package let id: String
    /// The publication that was in effect at the rehearsal.
    package let base: Int64
    /// The hash of the rehearsed policy.
    package let sha256: [UInt8]
    package let at: Date
    /// The name of the admin key in the request.
    package let actor: String
    /// Customers who would gain something.
    package let gaining: Int
    /// Customers who would lose something.
    package let losing: Int
    /// Customers who would lose something even if all promises are kept.
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
