/// Finds the current customer of each member (row of `customers`): the member itself, or the customer into which it was
/// merged.
extension DatabaseTransaction {
    /// Returns the members that the identities name, and their current customers. Doesn't read facts.
    func resolve(_ identities: [Identity], in realm: Realm) throws(StoreError) -> NamedMembers {
        let members = try members(by: identities, in: realm)
        return NamedMembers(
            identities: identities.count > 1 ? identities.sorted { $0.kind < $1.kind } : identities, realm: realm,
            members: members, survivors: try Survivors(of: Set(members.values), in: self))
    }

    /// Returns the row ID of each member's current customer, by the member's row ID. Members of erased customers are
    /// left out.
    func survivors(of members: Set<Int64>) throws(StoreError) -> [Int64: Int64] {
        try Survivors(of: members, in: self).currentByMember
    }

    /// Returns the same as `survivors(of:)` if the facts of all these customers together have more than `size` bytes.
    /// Otherwise empty.
    func survivors(of members: Set<Int64>, largerThan size: Int) throws(StoreError) -> [Int64: Int64] {
        let survivors = try Survivors(of: members, in: self)
        return survivors.factsSize > size ? survivors.currentByMember : [:]
    }
}

/// What the identities in an update name: members (rows of `customers`), and the customers to whom they belong.
struct NamedMembers: Sendable {
    /// The identities, ordered by kind: the most reliable one first.
    let identities: [Identity]
    /// The realm of the members: the App Store environment or test authority that signed their artifacts.
    let realm: Realm
    /// The row ID of the member that each identity names. Identities that name no member are left out.
    fileprivate let members: [Identity: Int64]
    /// The current customers of these members.
    fileprivate let survivors: Survivors

    /// The size of the facts of all customers that the identities name, in bytes.
    var factsSize: Int { survivors.factsSize }
    /// Whether some of the identities name a customer that is being erased.
    var includesErased: Bool { survivors.includesErased }

    /// The identities that name a member, with the row IDs of that member and of its current customer.
    var knownIdentities: [(identity: Identity, member: Int64, survivor: Int64)] {
        identities.compactMap { identity in
            guard let member = members[identity], let survivor = survivors.currentByMember[member] else { return nil }
            return (identity, member, survivor)
        }
    }

    /// The identities that name no member.
    var unknownIdentities: [Identity] { identities.filter { members[$0] == nil } }

    /// The original transaction IDs that name other customers than `customers` (row IDs). They are stored as purchases
    /// that are shared with another customer (`Identity.Kind.sharedPurchase`).
    func purchases(ofOthersThan customers: [Int64]) -> [String] {
        knownIdentities.filter { $0.identity.kind == .originalTransactionID && !customers.contains($0.survivor) }
            .map(\.identity.value)
    }

    /// The most reliable identity of each customer that the identities name, except the customer with this row ID.
    func mostReliableIdentityOfEach(except customer: Int64) -> [Identity] {
        var met: Set<Int64> = [customer]
        return knownIdentities.filter { met.insert($0.survivor).inserted }.map(\.identity)
    }
}

/// The current customer of each member. Each customer is read once, many with one statement.
private struct Survivors {
    /// The row ID of the current customer, by the row ID of the member. Members of erased customers are left out.
    private(set) var currentByMember: [Int64: Int64] = [:]
    /// The size of the facts of all these customers, in bytes.
    private(set) var factsSize = 0
    /// Whether a member is being erased, or was merged into a customer that is being erased.
    private(set) var includesErased = false
    /// The statement for a single customer, the usual case.
    private static let selectOne = "\(columns) FROM customers WHERE id = $1"
    private static let selectMany = "\(columns) FROM customers WHERE id IN \(DatabaseTransaction.batch)"
    private static let columns = "SELECT id, merged_into, length(facts)"

    /// Follows the merges of all members at once. Each round reads the rows into which rows of the last round were
    /// merged.
    init(of members: Set<Int64>, in transaction: DatabaseTransaction) throws(StoreError) {
        var parents: [Int64: Int64] = [:]
        var read: Set<Int64> = []
        var next = members
        while !next.isEmpty {
            read.formUnion(next)
            let rows =
                next.count == 1
                ? try transaction.session.rows(Self.selectOne, next.map { .integer($0) })
                : try transaction.rows(Self.selectMany, about: next.sorted())
            var merged: Set<Int64> = []
            for row in rows {
                let id = try row.integer(0)
                if let parent = try row.integerIfPresent(1) {
                    // An erased customer is merged into itself.
                    guard parent != id else {
                        includesErased = true
                        continue
                    }
                    parents[id] = parent
                    merged.insert(parent)
                } else {
                    currentByMember[id] = id
                    factsSize += Int(clamping: try row.integer(2))
                }
            }
            next = merged.subtracting(read)
        }
        for member in members { currentByMember[member] = try survivor(of: member, parents) }
    }

    /// Follows the merges of one member to the current customer. Nil if that customer doesn't exist or was erased.
    private func survivor(of member: Int64, _ parents: [Int64: Int64]) throws(StoreError) -> Int64? {
        var survivor = member
        for _ in 0...DatabaseTransaction.maximumMembers {
            guard let parent = parents[survivor] else { return currentByMember[survivor] }
            survivor = parent
        }
        throw .damaged("customer \(member) was merged in a circle")
    }
}
