/// What the identities in an update name: members (rows of `customers`), and the customers to whom they belong.
struct NamedMembers: Sendable {
    /// The identities, ordered by kind: the most reliable one first.
    let identities: [Identity]
    /// The realm of the members: the App Store environment or test authority that signed their artifacts.
    let realm: Realm
    /// The size of the facts of all customers that the identities name, in bytes.
    let factsSize: Int
    /// Whether some of the identities name a customer that is being erased.
    let includesErased: Bool
    private let members: [Identity: Int64]
    private let survivors: [Int64: Int64]

    /// - Parameters:
    ///   - members: the row ID of the member that each identity names. Identities that name no member are left out.
    ///   - survivors: the row ID of each member's current customer, by the member's row ID.
    init(
        _ identities: [Identity], in realm: Realm, members: [Identity: Int64], survivors: [Int64: Int64],
        factsSize: Int, includesErased: Bool
    ) {
        self.identities = identities.count > 1 ? identities.sorted { $0.kind < $1.kind } : identities
        self.realm = realm
        self.members = members
        self.survivors = survivors
        self.factsSize = factsSize
        self.includesErased = includesErased
    }

    /// The identities that name a member, with the row IDs of that member and of its current customer.
    var knownIdentities: [(identity: Identity, member: Int64, survivor: Int64)] {
        identities.compactMap { identity in
            guard let member = members[identity], let survivor = survivors[member] else { return nil }
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
