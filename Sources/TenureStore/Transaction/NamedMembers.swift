/// Whom the identities of an act name.
struct NamedMembers: Sendable {
    /// The strongest first.
    let identities: [Identity]
    let realm: Realm
    /// Bytes of what is known of all whom they name.
    let factsSize: Int
    /// Whether some of them name whom an act erases at present.
    let areSomeErased: Bool
    private let members: [Identity: Int64]
    private let roots: [Int64: Int64]

    /// `roots`: by member, who they turned out to be.
    init(
        _ identities: [Identity], in realm: Realm, members: [Identity: Int64], roots: [Int64: Int64], factsSize: Int,
        areSomeErased: Bool
    ) {
        self.identities = identities.count > 1 ? identities.sorted { $0.kind < $1.kind } : identities
        self.realm = realm
        self.members = members
        self.roots = roots
        self.factsSize = factsSize
        self.areSomeErased = areSomeErased
    }

    /// Those that name somebody, with the member whom they name and who that turned out to be.
    var known: [(identity: Identity, member: Int64, root: Int64)] {
        identities.compactMap { identity in
            guard let member = members[identity], let root = roots[member] else { return nil }
            return (identity, member, root)
        }
    }

    var unknown: [Identity] { identities.filter { members[$0] == nil } }

    /// Of each customer whom they name but this one, the strongest identity.
    func strongestOfEach(but customer: Int64) -> [Identity] {
        var met: Set<Int64> = [customer]
        return known.filter { met.insert($0.root).inserted }.map(\.identity)
    }
}
