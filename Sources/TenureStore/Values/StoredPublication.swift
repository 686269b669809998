package import Foundation

/// That a version of the policy began to decide.
package struct StoredPublication: Sendable, Hashable {
    package enum Action: String, Sendable, Hashable, CaseIterable {
        /// The policy with which the service met an empty record.
        case start
        case publish
        /// An older version decides again.
        case rollback
    }

    /// Counts up from 1.
    package let id: Int64
    /// The version of the policy.
    package let version: Int64
    package let action: Action
    package let at: Date
    /// The name of a key.
    package let actor: String
    /// Who wrote the policy, as who published it says.
    package let author: String?
    package let reason: String?
    /// What it repeated.
    package let rehearsal: String?
    package let counts: Counts

    /// What it did, in numbers.
    package struct Counts: Sendable, Hashable {
        /// Customers who were rehearsed.
        package var customers = 0
        package var gaining = 0
        package var losing = 0
        /// Promises that it ended.
        package var ended = 0
        /// Promises, ended by an earlier one, that bind again.
        package var restored = 0

        package init() {}
    }

    package init(
        id: Int64, version: Int64, action: Action, at: Date, actor: String, author: String? = nil,
        reason: String? = nil,
        rehearsal: String? = nil, counts: Counts = Counts()
    ) {
        self.id = id
        self.version = version
        self.action = action
        self.at = at.toMillisecond
        self.actor = actor
        self.author = author
        self.reason = reason
        self.rehearsal = rehearsal
        self.counts = counts
    }
}

/// What a policy would have done to the whole record, once.
package struct StoredRehearsal: Sendable, Hashable {
    package let id: String
    /// The publication that decided then.
    package let base: Int64
    /// Of the policy that was rehearsed.
    package let sha256: [UInt8]
    package let at: Date
    package let actor: String
    /// Customers who would gain something.
    package let gaining: Int
    /// Customers who would lose something.
    package let losing: Int
    /// Those of them who would lose it although every promise is kept.
    package let losingWithPromises: Int
    /// JSON, for people and programs.
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
