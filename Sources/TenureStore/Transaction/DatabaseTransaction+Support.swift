import Foundation
package import TenureCore

/// A grant or revocation by support, with its reason.
package struct StoredSupportGrant: Sendable, Hashable {
    package let grant: SupportGrant
    /// The reason that the request gave; nil if it gave none.
    package let reason: String?
    /// The name of the admin key in the request; nil if it isn't known.
    package let actor: String?
}

/// Stores and reads grants and revocations by support. They belong to a *member*: a row of `customers`, of which a
/// merged customer has several.
extension DatabaseTransaction {
    /// Stores a grant or revocation for the member with this row ID, unless it equals the entitlement's latest grant or
    /// revocation. Returns the customer after that; nil if the customer doesn't exist.
    func record(_ grant: SupportGrant, for id: Int64, reason: String?, actor: String?) throws(StoreError) -> Customer? {
        guard let known = try customer(id, forUpdate: true) else { return nil }
        guard let (facts, grant) = known.facts.adding(grant) else { return known }
        try session.execute(
            """
            INSERT INTO support_grants (customer, entitlement, kind, at, until, reason, actor)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .integer(id), .text(grant.entitlement), .text(grant.kind.rawValue), SQLValue(grant.date),
                SQLValue(grant.until), SQLValue(reason), SQLValue(actor),
            ])
        return try update(known, to: facts)
    }

    /// The grants and revocations of a member, in the order in which they were made.
    func supportGrants(of member: Int64) throws(StoreError) -> [StoredSupportGrant] {
        try session.rows(
            "SELECT entitlement, kind, at, until, reason, actor FROM support_grants WHERE customer = $1 ORDER BY id",
            [.integer(member)]
        ).map { row throws(StoreError) in
            StoredSupportGrant(
                grant: SupportGrant(
                    try row.namedValue(1, "a support grant has the unknown kind"), of: try row.text(0),
                    date: try row.instant(2), until: try row.instantIfPresent(3)),
                reason: try row.textIfPresent(4), actor: try row.textIfPresent(5))
        }
    }
}

extension CustomerFacts {
    /// Returns the facts with the grant or revocation added, and the grant or revocation with the date that is stored:
    /// rounded to milliseconds, and later than the entitlement's latest grant or revocation. Returns nil if the latest
    /// grant or revocation is the same.
    func adding(_ grant: SupportGrant) -> (facts: CustomerFacts, grant: SupportGrant)? {
        // Rounded as in the database, so that `tenure database rebuild` gives the same value.
        var grant = SupportGrant(
            grant.kind, of: grant.entitlement, date: grant.date.toMillisecond, until: grant.until?.toMillisecond)
        let latest = support.filter { $0.entitlement == grant.entitlement }.max { $0.date < $1.date }
        if let latest {
            guard latest != grant else { return nil }
            // The latest grant must count, even if the clock was set back, or another machine's clock is slow.
            let date = max(grant.date, latest.date.addingTimeInterval(0.001).toMillisecond)
            grant = SupportGrant(grant.kind, of: grant.entitlement, date: date, until: grant.until)
        }
        var facts = self
        facts.add(grant)
        return (facts, grant)
    }
}
