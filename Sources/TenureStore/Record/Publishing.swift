package import Foundation

/// A policy that is to decide from now on, with what its rehearsal over the whole record found.
package struct RequestedPublication: Sendable, Hashable {
    package let compiled: [UInt8]
    package let sha256: [UInt8]
    package let act: RecordedPublication.Act
    package let at: Date
    package let actor: String
    package let author: String?
    package let reason: String?
    package let rehearsal: String?
    /// The publication against which it was rehearsed: another one meanwhile refuses it.
    package let base: Int64
    /// Promises that later publications than this one ended bind again; nil: none.
    package let restoringAfter: Int64?
    /// Customers who may lose something.
    package let allowance: Int
    /// Customers who may gain something; nil: any number.
    package let gainAllowance: Int?
    /// Whether what the new policy does not give ends for who has it, promised or not.
    package let endsPromises: Bool

    package init(
        compiled: [UInt8], sha256: [UInt8], act: RecordedPublication.Act, at: Date, actor: String,
        author: String? = nil, reason: String?, rehearsal: String? = nil, base: Int64, restoringAfter: Int64? = nil,
        allowance: Int = 0, gainAllowance: Int? = nil, endsPromises: Bool = false
    ) {
        self.compiled = compiled
        self.sha256 = sha256
        self.act = act
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

/// What a policy does to one customer, as far as a publication must know.
package struct PublicationVerdict: Sendable, Hashable {
    package var gains: Bool
    /// Whether something is taken, as the publication treats promises.
    package var loses: Bool
    /// Entitlements whose promises end.
    package var ending: Set<String>

    package init(gains: Bool = false, loses: Bool = false, ending: Set<String> = []) {
        self.gains = gains
        self.loses = loses
        self.ending = ending
    }
}

/// What a walk over all customers found, and from where on it does not know what happened.
package struct PublicationSurvey: Sendable {
    /// Of those whose verdict is not empty, by number.
    package var verdicts: [Int64: PublicationVerdict] = [:]
    /// How many customers there are.
    package var customers = 0
    /// How far the ledger had come before the walk began.
    package let mark: LedgerMark

    package init(mark: LedgerMark) {
        self.mark = mark
    }
}

/// How far each part of the ledger had come at an instant at which nobody was writing.
package struct LedgerMark: Sendable, Hashable {
    /// The last rows, by table.
    let last: [String: Row]
    /// Members with artifacts of acts whose last piece wasn't written.
    let unfinished: [Int64]

    struct Row: Sendable, Hashable {
        let id: Int64
        /// Whom it is about: where that changes, the row was removed and its number given again.
        let customer: Int64?
    }

    func number(in table: String) -> Int64 { last[table]?.id ?? 0 }
}

/// One of those who are walked over, with what a rollback would restore to them.
package struct SurveyedCustomer: Sendable {
    package let customer: Customer
    /// The record of somebody who proved nothing: not counted, and no promise outlives there what it was copied from.
    package let isVisit: Bool
    package let restored: [RecordedPromise]

    package init(customer: Customer, isVisit: Bool, restored: [RecordedPromise]) {
        self.customer = customer
        self.isVisit = isVisit
        self.restored = restored
    }
}

/// What came of a publication.
package enum PublicationOutcome: Sendable, Hashable {
    case published(RecordedPublication)
    /// Another one decides meanwhile.
    case overtaken
    /// So many customers would lose something, more than are allowed to.
    case takes(Int)
    /// So many customers would gain something, more than are allowed to.
    case gives(Int)
    /// Customers were parted or erased since the survey: it must be made again.
    case unsettled
}
