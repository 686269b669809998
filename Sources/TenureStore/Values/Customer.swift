package import Foundation
package import TenureCore

/// A customer of one realm (an environment of the App Store, or a test authority), as the database stores them.
package struct Customer: Sendable, Hashable {
    /// The row's ID. No response contains it.
    package let id: Int64
    package let realm: Realm
    /// An opaque ID, which clients and support staff see; see `PublicID`.
    package let publicID: String
    /// When the service first stored the customer.
    package let createdAt: Date
    package let facts: CustomerFacts
    /// The entitlements that webhooks last reported. Nil if webhooks never reported any; may be nil in the result of
    /// `Database.lookUp`.
    package let sentEntitlements: SentEntitlements?
    /// The row ID of the *member* (row of `customers`) by which the customer was looked up. It differs from `id` if
    /// that row was merged into this customer.
    package let member: Int64
    /// Whether all purchases of a merged customer's other accounts are known: of every account except that of `member`.
    var otherAccountsAreComplete = true

    package init(
        id: Int64, realm: Realm, publicID: String, createdAt: Date, facts: CustomerFacts,
        sentEntitlements: SentEntitlements? = nil, member: Int64? = nil
    ) {
        self.id = id
        self.member = member ?? id
        self.realm = realm
        self.publicID = publicID
        self.createdAt = createdAt
        self.facts = facts
        self.sentEntitlements = sentEntitlements
    }

    /// Returns the same customer with other facts.
    func replacingFacts(with facts: CustomerFacts) -> Customer { with(facts, sentEntitlements) }

    /// Compares what the row of the database contains. Ignores `member` and `otherAccountsAreComplete`.
    package static func == (left: Customer, right: Customer) -> Bool {
        left.id == right.id && left.realm == right.realm && left.publicID == right.publicID
            && left.createdAt == right.createdAt && left.facts == right.facts
            && left.sentEntitlements == right.sentEntitlements
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The customer's facts, without promises, in the form from which entitlements are decided.
    package var evidence: Evidence { facts.evidence(in: realm.environment) }
}

/// The ID by which an operation names a customer. For a merged customer, it names one member (row of `customers`).
package enum CustomerName: Sendable, Hashable {
    /// The ID that clients and support see.
    case publicID(String)
    /// The row ID that access tokens contain.
    case rowID(Int64)
}
