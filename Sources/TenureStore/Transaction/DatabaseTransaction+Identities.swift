/// Operations on many identities at a time. A receipt may name thousands. An identity names a *member*: a row of
/// `customers`, of which a merged customer has several.
extension DatabaseTransaction {
    /// How many identities one statement reads or writes.
    static let identitiesPerStatement = 64
    /// The number of identities in a shorter statement. Most updates name no more than this, and the shorter statement
    /// has fewer unused parameters.
    private static let fewIdentities = 4

    /// The row IDs of the members that the identities name, by identity. Identities that name no member are left out.
    func members(by identities: [Identity], in realm: Realm) throws(StoreError) -> [Identity: Int64] {
        var members: [Identity: Int64] = [:]
        for (kind, identities) in Dictionary(grouping: identities, by: \.kind) {
            // Usually, an update names one identity of a kind. For a list, SQLite would create a temporary table.
            if identities.count == 1, let only = identities.first {
                members[only] = try member(by: only, in: realm)
                continue
            }
            for chunk in identities.chunks(of: Self.identitiesPerStatement) {
                let size = chunk.count <= Self.fewIdentities ? Self.fewIdentities : Self.identitiesPerStatement
                let rows = try session.rows(
                    """
                    SELECT value, customer FROM identities
                    WHERE realm = $1 AND kind = $2 AND value IN (\(Self.placeholders(size, from: 3)))
                    """,
                    [SQLValue(realm.code), SQLValue(kind.rawValue)]
                        + chunk.map { SQLValue.text($0.value) }.padded(to: size))
                for row in rows { members[Identity(kind, try row.text(0))] = try row.integer(1) }
            }
        }
        return members
    }

    /// The row IDs of the members that share one of these purchases (`Identity.Kind.sharedPurchase`). The member that a
    /// sync finds by the purchase isn't included.
    ///
    /// - Parameter purchases: original transaction IDs.
    func members(sharingAnyOf purchases: [String], in realm: Realm) throws(StoreError) -> Set<Int64> {
        var members: Set<Int64> = []
        for chunk in purchases.chunks(of: Self.identitiesPerStatement) {
            let size = chunk.count <= Self.fewIdentities ? Self.fewIdentities : Self.identitiesPerStatement
            // Each part selects the values that begin with one purchase and a space. In ASCII, `!` comes directly after
            // the space.
            let parts = (0..<size).map { index in
                """
                SELECT customer FROM identities
                WHERE realm = $1 AND kind = $2 AND value >= $\(2 * index + 3) AND value < $\(2 * index + 4)
                """
            }
            let ids = try session.integers(
                parts.joined(separator: " UNION ALL "),
                [SQLValue(realm.code), SQLValue(Identity.Kind.sharedPurchase.rawValue)]
                    + Array(chunk).padded(to: size).flatMap { [SQLValue.text($0 + " "), .text($0 + "!")] })
            members.formUnion(ids)
        }
        return members
    }

    /// Stores the identities that don't name a customer yet. Returns how many were stored.
    @discardableResult
    func insert(_ identities: [Identity], ofMember member: Int64, in realm: Realm) throws(StoreError) -> Int {
        var count = 0
        for chunk in identities.chunks(of: Self.identitiesPerStatement) {
            if chunk.count <= Self.fewIdentities {
                for identity in chunk {
                    count += try session.execute(
                        Self.insertOne, Self.arguments(of: identity, ofMember: member, in: realm))
                }
            } else {
                // Fills the remaining parameters with the last row again, which changes nothing.
                let rows = Array(chunk).padded(to: Self.identitiesPerStatement)
                count += try session.execute(
                    Self.insertMany, rows.flatMap { Self.arguments(of: $0, ofMember: member, in: realm) })
            }
        }
        return count
    }

    private static func arguments(of identity: Identity, ofMember member: Int64, in realm: Realm) -> [SQLValue] {
        [SQLValue(realm.code), SQLValue(identity.kind.rawValue), .text(identity.value), .integer(member)]
    }

    // The statements that insert 1 or `identitiesPerStatement` rows. Both are constants, so that no call builds a
    // string.
    private static let insertOne = inserting(rows: 1)
    private static let insertMany = inserting(rows: identitiesPerStatement)

    private static func inserting(rows: Int) -> String {
        let values = (0..<rows).map { "(\(placeholders(4, from: $0 * 4 + 1)))" }.joined(separator: ", ")
        return "INSERT INTO identities (realm, kind, value, customer) VALUES \(values) ON CONFLICT DO NOTHING"
    }

    /// Returns placeholders such as `$3, $4, $5`.
    static func placeholders(_ count: Int, from first: Int) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }
}

extension Array {
    /// Splits the array into chunks of `size` elements, in order. The last one may be shorter.
    package func chunks(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }

    /// Repeats the last element until the array has this length.
    func padded(to count: Int) -> [Element] {
        guard let last else { return self }
        return self + repeatElement(last, count: Swift.max(0, count - self.count))
    }
}

extension Identity {
    /// Reads an identity from a row with the kind in this column, and the value in the next column.
    init(_ row: SQLRow, kindAt column: Int) throws(StoreError) {
        self.init(try row.codedValue(column, "kind of identity", Kind.init(rawValue:)), try row.text(column + 1))
    }
}
