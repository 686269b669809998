package import Foundation

/// A policy to publish, with what its rehearsal over all customers allows.
package struct RequestedPublication: Sendable, Hashable {
    package let compiled: [UInt8]
    package let sha256: [UInt8]
    package let action: StoredPublication.Action
    package let at: Date
    package let actor: String
    package let author: String?
    package let reason: String?
    package let rehearsal: String?
    /// The publication against which it was rehearsed. If another one is in effect by now, this one is refused.
    package let base: Int64
    /// Restores the promises that publications after this one ended. Nil restores none.
    package let restoringAfter: Int64?
    /// How many customers may lose something.
    package let allowance: Int
    /// How many customers may gain something; nil means any number.
    package let gainAllowance: Int?
    /// Whether rights that the new policy doesn't give end even if they were promised.
    package let endsPromises: Bool

    package init(
        compiled: [UInt8], sha256: [UInt8], action: StoredPublication.Action, at: Date, actor: String,
        author: String? = nil, reason: String?, rehearsal: String? = nil, base: Int64, restoringAfter: Int64? = nil,
        allowance: Int = 0, gainAllowance: Int? = nil, endsPromises: Bool = false
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
        self.allowance = allowance
        self.gainAllowance = gainAllowance
        self.endsPromises = endsPromises
    }
}

/// What a policy does to one customer, as far as a publication needs it.
package struct PublicationVerdict: Sendable, Hashable {
    package var gains: Bool
    /// Whether the customer loses something, with or without promises as the publication says.
    package var loses: Bool
    /// Entitlements with promises that end.
    package var ending: Set<String>

    package init(gains: Bool = false, loses: Bool = false, ending: Set<String> = []) {
        self.gains = gains
        self.loses = loses
        self.ending = ending
    }
}

/// What evaluating all customers found, and when it began.
package struct PublicationSurvey: Sendable {
    /// The verdicts that aren't empty, by customer.
    package var verdicts: [Int64: PublicationVerdict] = [:]
    /// How many customers there are.
    package var customers = 0
    /// The state of the database before the first customer was read.
    package let mark: DatabasePosition

    package init(mark: DatabasePosition) {
        self.mark = mark
    }
}

/// The last row of each table at an instant without writers.
package struct DatabasePosition: Sendable, Hashable {
    /// By table.
    let last: [String: Row]
    /// Members with artifacts of updates without a last piece.
    let unfinished: [Int64]

    struct Row: Sendable, Hashable {
        let id: Int64
        /// The customer of the row. If that changes, the row was removed and its number used again.
        let customer: Int64?
    }

    func number(in table: String) -> Int64 { last[table]?.id ?? 0 }
}

/// A customer to evaluate, with the promises that a rollback would restore.
package struct SurveyedCustomer: Sendable {
    package let customer: Customer
    /// Whether this is an unbound customer. They aren't counted, and their copied promises end with the original ones.
    package let isUnbound: Bool
    package let restored: [StoredPromise]

    package init(customer: Customer, isUnbound: Bool, restored: [StoredPromise]) {
        self.customer = customer
        self.isUnbound = isUnbound
        self.restored = restored
    }
}

/// The result of a publication.
package enum PublicationOutcome: Sendable, Hashable {
    case published(StoredPublication)
    /// Another publication is in effect by now.
    case overtaken
    /// More customers than allowed would lose something.
    case takes(Int)
    /// More customers than allowed would gain something.
    case gives(Int)
    /// Customers were separated or erased since the survey, which must be repeated.
    case unsettled
}

/// A publication that only needs the verdicts on customers that changed since its survey.
package struct PublicationDraft: Sendable {
    let request: RequestedPublication
    var survey: PublicationSurvey
    let formerVersion: Int64
    let restored: [Int64: [StoredPromise]]
    /// Customers that changed since the survey, without a verdict.
    package let changed: [Int64]

    /// Sets the verdict on a changed customer.
    package mutating func set(_ verdict: PublicationVerdict, for customer: Int64) {
        if verdict != PublicationVerdict() { survey.verdicts[customer] = verdict }
    }
}

package enum PreparedPublication: Sendable {
    case ready(PublicationDraft)
    case refused(PublicationOutcome)
}
