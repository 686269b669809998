import Foundation

/// One row of `customers`. A merged customer has several: the *survivor*, with the facts of the whole customer, and the
/// rows that were merged into it.
struct CustomerMember {
    /// The row ID.
    let id: Int64
    let realm: Realm
    let publicID: String
    let createdAt: Date
    /// The ID of the row into which this row was merged; nil for the survivor.
    let mergedInto: Int64?
}

/// Reads and writes customers: rows of `customers`, with the merges between them followed.
extension DatabaseTransaction {
    /// Returns the member; nil if it doesn't exist or was erased.
    ///
    /// - Parameter forUpdate: whether to lock the row until the transaction ends, for changes.
    func member(_ name: CustomerName, forUpdate: Bool = true) throws(StoreError) -> CustomerMember? {
        let (column, value): (String, SQLValue) =
            switch name {
            case .publicID(let id): ("public_id", .text(id))
            case .rowID(let id): ("id", .integer(id))
            }
        let row = try session.row(
            """
            SELECT id, realm, public_id, created_at, merged_into FROM customers
            WHERE \(column) = $1\(forUpdate ? session.dialect.forUpdate : "")
            """, [value])
        return try row.flatMap { row throws(StoreError) -> CustomerMember? in
            let member = CustomerMember(
                id: try row.integer(0), realm: try row.codedValue(1, "realm", Realm.init(code:)),
                publicID: try row.text(2), createdAt: try row.instant(3), mergedInto: try row.integerIfPresent(4))
            // An erased customer is merged into itself.
            return member.mergedInto == member.id ? nil : member
        }
    }

    /// Returns the row IDs of the customer's members; empty if the customer doesn't exist.
    package func members(of customer: CustomerName) throws(StoreError) -> [Int64] {
        guard let member = try member(customer, forUpdate: false) else { return [] }
        return try group(of: try self.customer(of: member, forUpdate: false).id)
    }

    /// Returns the survivor of a member's customer, locked, without the facts. A member that wasn't merged is its own
    /// survivor.
    func survivor(of member: CustomerMember) throws(StoreError) -> CustomerMember {
        var survivor = member
        for _ in 0...Self.maximumMembers {
            guard let next = survivor.mergedInto else { return survivor }
            guard let found = try self.member(.rowID(next))
            else { throw .damaged("customer \(survivor.id) was merged into a missing customer") }
            survivor = found
        }
        throw .damaged("customer \(member.id) was merged in a circle")
    }

    /// Returns the survivor of a member's customer, with `Customer.member` set to the row ID of this member.
    ///
    /// - Parameter forUpdate: whether to lock the row until the transaction ends.
    func customer(of member: CustomerMember, forUpdate: Bool = true) throws(StoreError) -> Customer {
        guard let customer = try customer(member.id, forUpdate: forUpdate)
        else { throw .damaged("customer \(member.id) was merged into a missing customer") }
        return customer.with(member: member.id)
    }

    /// Stores into which customer a member is merged; nil makes the member a separate customer.
    func mergeMember(_ id: Int64, into parent: Int64?) throws(StoreError) {
        try session.execute("UPDATE customers SET merged_into = $1 WHERE id = $2", [SQLValue(parent), .integer(id)])
    }

    // MARK: Rows

    /// Returns the customer with this row ID, or the one into which it was merged; nil if the customer doesn't exist.
    ///
    /// - Parameters:
    ///   - forUpdate: whether to lock the row until the transaction ends, for changes.
    ///   - asStored: whether to return the facts exactly as stored, even if a published policy still has promises of
    ///     this customer to end or to restore (`applying`).
    package func customer(
        _ id: Int64, forUpdate: Bool = false, asStored: Bool = false
    ) throws(StoreError) -> Customer? {
        var id = id
        // Follows the merges. The limit matters only in a damaged database, in which customers were merged in a circle.
        for _ in 0...Self.maximumMembers {
            let lock = forUpdate ? session.dialect.forUpdate : ""
            guard
                let row = try session.row(
                    "SELECT \(Customer.columns), \(Self.unfinishedPublicationColumn) FROM customers WHERE id = $1\(lock)",
                    [.integer(id)])
            else { return nil }
            guard let next = try row.integerIfPresent(5) else {
                let known = try largeFacts?.decoded(try row.bytes(4))
                let customer = try Customer(row, remembering: known ?? knownFacts[id])
                guard !asStored, let unfinished = try row.textIfPresent(7) else { return customer }
                return try applying(try UnfinishedPublication(unfinished), to: customer, isLocked: forUpdate)
            }
            // An erased customer is merged into itself.
            guard next != id else { return nil }
            id = next
        }
        throw .damaged("customer \(id) was merged in a circle")
    }

    /// An SQL column with the `UnfinishedPublication` that still has promises to end or to restore. NULL if there is no
    /// such publication.
    package static let unfinishedPublicationColumn =
        "(SELECT value FROM progress WHERE name = '\(UnfinishedPublication.name)')"

    /// The highest row ID of any customer, which the newest customer has; 0 without customers.
    package func highestCustomerRowID() throws(StoreError) -> Int64 {
        try session.row("SELECT coalesce(max(id), 0) FROM customers")?.integer(0) ?? 0
    }

    /// Returns the customer with this public ID, or the one into which it was merged; nil if the customer doesn't
    /// exist.
    package func customer(named publicID: String) throws(StoreError) -> Customer? {
        let id = try session.integers("SELECT id FROM customers WHERE public_id = $1", [.text(publicID)]).first
        return try id.flatMap { id throws(StoreError) in try customer(id) }
    }

    /// Returns the customer whom the identity names, with `Customer.member` set to the member that it names. Nil if it
    /// names no customer.
    func customer(by identity: Identity, in realm: Realm, forUpdate: Bool = false) throws(StoreError) -> Customer? {
        guard let member = try member(by: identity, in: realm) else { return nil }
        return try customer(member, forUpdate: forUpdate)?.with(member: member)
    }

    /// The row ID of the member that the identity names; nil if it names no member.
    func member(by identity: Identity, in realm: Realm) throws(StoreError) -> Int64? {
        try session.integers(
            "SELECT customer FROM identities WHERE realm = $1 AND kind = $2 AND value = $3",
            [SQLValue(realm.code), SQLValue(identity.kind.rawValue), .text(identity.value)]
        ).first
    }

    /// The members of a customer, by row ID: the customer itself and all customers that were merged into it.
    func group(of id: Int64) throws(StoreError) -> [Int64] {
        try session.integers(
            """
            WITH RECURSIVE members (id) AS (
                SELECT id FROM customers WHERE id = $1
                UNION SELECT customers.id FROM customers JOIN members ON customers.merged_into = members.id
            )
            SELECT id FROM members ORDER BY id
            """, [.integer(id)])
    }

    /// The identities of all members of a customer.
    func identities(of id: Int64) throws(StoreError) -> [Identity] {
        try group(of: id).map { member throws(StoreError) in try identities(ofMember: member) }.flatMap { $0 }
    }

    /// The identities of one member.
    func identities(ofMember id: Int64) throws(StoreError) -> [Identity] {
        let rows = try session.rows(
            "SELECT kind, value FROM identities WHERE customer = $1 ORDER BY kind, value", [.integer(id)])
        return try rows.map { row throws(StoreError) in try Identity(row, kindAt: 0) }
    }

    // The statements are constants, so that no string is built for every customer. `$5` of the first statement and `$3`
    // of the second are 0 for `EntitlementChange.later`: the entitlements weren't compared with what webhooks last
    // reported. Then `next_comparison`, and `sent_entitlements` of a new customer, are set only if there is a webhook
    // endpoint.
    private static let insertCustomer = """
        INSERT INTO customers (realm, public_id, created_at, facts, sent_entitlements, next_comparison)
        VALUES ($1, $2, $3, $4, CASE WHEN $5 = 1 OR EXISTS (SELECT 1 FROM endpoints) THEN CAST($6 AS TEXT) END,
            CASE WHEN $5 = 1 OR EXISTS (SELECT 1 FROM endpoints) THEN CAST($7 AS BIGINT) END)
        """
    private static let updateCustomer = """
        UPDATE customers SET facts = $1, sent_entitlements = coalesce($2, sent_entitlements), next_comparison =
            CASE WHEN $3 = 1 OR EXISTS (SELECT 1 FROM endpoints) THEN CAST($4 AS BIGINT) ELSE next_comparison END
        WHERE id = $5
        """

    /// Creates a customer with these facts.
    ///
    /// - Parameters:
    ///   - change: what webhooks report about the customer's entitlements.
    ///   - encoded: the same facts, if they were encoded before the transaction.
    func create(
        _ facts: CustomerFacts, in realm: Realm, _ change: EntitlementChange = .later, encoded: EncodedFacts? = nil
    ) throws(StoreError) -> Customer {
        let publicID = PublicID.customer.ordered(at: now)
        // For a new customer, no entitlements were sent, which differs from "unknown" (NULL).
        let sent = change == .later ? SentEntitlements() : change.sentEntitlements
        let rowID = try session.insert(
            Self.insertCustomer,
            [
                SQLValue(realm.code), .text(publicID), milliseconds, .blob(encoded?.bytes ?? facts.encoded),
                change == .later ? 0 : 1, SQLValue(sent?.json), change.nextComparison(at: now),
            ])
        guard let rowID else { throw .defect("a new customer was stored without a row ID") }
        return Customer(
            id: rowID, realm: realm, publicID: publicID, createdAt: now.toMillisecond, facts: facts,
            sentEntitlements: change.sentEntitlements)
    }

    /// Writes a customer's facts, and what webhooks have reported about their entitlements. Writes nothing if neither
    /// differs from what is stored. Returns the customer after the change.
    ///
    /// - Parameters:
    ///   - change: what webhooks report about the change of facts. For `later`, the service compares the customer's
    ///     entitlements soon.
    ///   - encoded: the same facts, if they were encoded before the transaction.
    func update(
        _ customer: Customer, to facts: CustomerFacts, _ change: EntitlementChange = .later,
        encoded: EncodedFacts? = nil
    ) throws(StoreError) -> Customer {
        let changesReport = change.sentEntitlements != nil && change.sentEntitlements != customer.sentEntitlements
        var encoded = encoded ?? (preparedFacts?.facts == facts ? preparedFacts : nil)
        if encoded == nil { encoded = try largeFacts?.encoded(facts) }
        // Large facts are compared by their bytes, which is faster than comparing thousands of purchases.
        let areFactsSame: Bool
        if let encoded, let remembered = knownFacts[customer.id], customer.facts == remembered.facts {
            areFactsSame = encoded.hasSameBytes(as: remembered.bytes)
        } else {
            areFactsSame = facts == customer.facts
        }
        guard !areFactsSame || changesReport else { return customer }
        if areFactsSame {
            try session.execute(
                "UPDATE customers SET sent_entitlements = $1, next_comparison = $2 WHERE id = $3",
                [SQLValue(change.sentEntitlements?.json), change.nextComparison(at: now), .integer(customer.id)])
            return customer.with(customer.facts, change.sentEntitlements)
        }
        try session.execute(
            Self.updateCustomer,
            [
                .blob(encoded?.bytes ?? facts.encoded), SQLValue(change.sentEntitlements?.json),
                change == .later ? 0 : 1, change.nextComparison(at: now), .integer(customer.id),
            ])
        return customer.with(facts, change.sentEntitlements ?? customer.sentEntitlements)
    }
}

extension Customer {
    /// The columns of `customers`, in the order in which `init` reads them. `init` ignores `merged_into`, which callers
    /// read first.
    package static let columns = "id, realm, public_id, created_at, facts, merged_into, sent_entitlements"

    /// Reads a customer from a row.
    ///
    /// - Parameter remembered: facts that were decoded before. If the row still has the bytes of these facts, the row
    ///   isn't decoded, because decoding is slower than comparing.
    init(_ row: SQLRow, remembering remembered: EncodedFacts? = nil) throws(StoreError) {
        let bytes = try row.bytes(4)
        if let remembered, remembered.hasSameBytes(as: bytes) {
            try self.init(row, with: remembered.facts)
        } else {
            try self.init(row, with: try CustomerFacts(decoding: bytes))
        }
    }

    /// Reads a customer from a row, with these facts instead of those in the row, which aren't decoded.
    init(_ row: SQLRow, with facts: CustomerFacts) throws(StoreError) {
        let rights: [String: SentEntitlements.Right]? = try row.json(
            6, "the column `sent_entitlements` of a customer has invalid JSON")
        self.init(
            id: try row.integer(0), realm: try row.codedValue(1, "realm", Realm.init(code:)), publicID: try row.text(2),
            createdAt: try row.instant(3), facts: facts, sentEntitlements: rights.map { SentEntitlements(rights: $0) })
    }

    /// Returns the same customer with other facts and sent entitlements.
    func with(_ facts: CustomerFacts, _ sentEntitlements: SentEntitlements?, member: Int64? = nil) -> Customer {
        Customer(
            id: id, realm: realm, publicID: publicID, createdAt: createdAt, facts: facts,
            sentEntitlements: sentEntitlements, member: member ?? self.member)
    }

    /// Returns the same customer with another `member`.
    func with(member: Int64) -> Customer { with(facts, sentEntitlements, member: member) }
}
