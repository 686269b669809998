package import Foundation
package import TenureCore

/// A customer of one realm, as the record knows them.
package struct Customer: Sendable, Hashable {
    /// The record's own number; never shown to anybody.
    package let id: Int64
    package let realm: Realm
    /// Random and opaque; what clients and support people see.
    package let publicID: String
    package let createdAt: Date
    package let facts: CustomerFacts
    /// What the world was last told of their rights: for acts. Nil where it was told nothing yet, and where a mere
    /// look-up left it out.
    package let sentEntitlements: SentEntitlements?
    /// Of those who turned out to be one: the number of the one who was named, under which stands what they brought.
    package let member: Int64
    /// Of those who are one: whether all purchases are known of the other accounts than the one who was named. Only
    /// where not all are known.
    package var othersAreComplete = true

    package init(
        id: Int64, realm: Realm, publicID: String, createdAt: Date, facts: CustomerFacts,
        sentEntitlements: SentEntitlements? = nil,
        member: Int64? = nil
    ) {
        self.id = id
        self.member = member ?? id
        self.realm = realm
        self.publicID = publicID
        self.createdAt = createdAt
        self.facts = facts
        self.sentEntitlements = sentEntitlements
    }

    /// The same customer with other facts.
    package func knowing(_ facts: CustomerFacts) -> Customer {
        Customer(
            id: id, realm: realm, publicID: publicID, createdAt: createdAt, facts: facts,
            sentEntitlements: sentEntitlements,
            member: member)
    }

    /// The same, by whichever number they were named.
    package static func == (left: Customer, right: Customer) -> Bool {
        left.id == right.id && left.realm == right.realm && left.publicID == right.publicID
            && left.createdAt == right.createdAt && left.facts == right.facts
            && left.sentEntitlements == right.sentEntitlements
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }

    package var evidence: Evidence { facts.evidence(in: realm.environment) }
}
