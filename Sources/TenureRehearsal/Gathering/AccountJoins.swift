/// The accounts that are one customer because an exporter gave them one `id`.
/// Nearly every `id` has one account and every account one `id`; those need no memory here. Only the accounts of the
/// others are kept.
struct AccountJoins: Sendable {
    /// An `id` with more accounts than this is a placeholder such as `anonymous`, and joins no lines.
    static let mostAccounts = 10

    /// `id`s with too many accounts, and their numbers.
    private(set) var anonymous: [CustomerName: Int] = [:]
    /// By a joined account: the next account on the way to the representative one.
    private var parents: [CustomerName: CustomerName] = [:]

    /// Adds the accounts that lines name beside an `id`.
    mutating func add(_ accounts: Set<CustomerName>, of id: CustomerName) {
        guard accounts.count > 1 else { return }
        guard accounts.count <= Self.mostAccounts else {
            anonymous[id] = accounts.count
            return
        }
        let sorted = accounts.sorted { $0.precedes($1) }
        for account in sorted.dropFirst() { join(account, sorted[0]) }
    }

    mutating func join(_ one: CustomerName, _ other: CustomerName) {
        let roots = (root(of: one), root(of: other))
        parents[roots.0] = parents[roots.0] ?? roots.0
        parents[roots.1] = parents[roots.1] ?? roots.1
        // The strongest account represents all, in any order.
        let (root, child) = roots.0.precedes(roots.1) ? (roots.0, roots.1) : (roots.1, roots.0)
        parents[child] = root
        // Long chains would make later searches slow.
        shorten(one, to: root)
        shorten(other, to: root)
    }

    /// Lets all names from `name` to `root` lead there directly.
    private mutating func shorten(_ name: CustomerName, to root: CustomerName) {
        var name = name
        while let parent = parents[name], parent != root, name != root {
            parents[name] = root
            name = parent
        }
    }

    func joins(_ account: CustomerName) -> Bool { parents[account] != nil }

    /// The account that represents all joined ones; the account itself without any.
    func root(of account: CustomerName) -> CustomerName {
        var name = account
        while let parent = parents[name], parent != name { name = parent }
        return name
    }

    /// Where a name leads that occurs beside these stronger ones: to the customer that all of them name, if there is
    /// only one.
    func target(of names: Set<CustomerName>) -> CustomerName? {
        let known = names.filter { anonymous[$0] == nil }
        guard let first = known.min(by: { $0.precedes($1) }) else { return nil }
        let root = root(of: first)
        return known.allSatisfy { self.root(of: $0) == root } ? first : nil
    }
}

extension CustomerName {
    /// The strongest first, then by text.
    func precedes(_ other: CustomerName) -> Bool {
        if kind != other.kind { return kind > other.kind }
        return (realm, text) < (other.realm, other.text)
    }
}
