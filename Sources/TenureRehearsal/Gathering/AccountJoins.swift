/// The Apple Accounts that belong to one customer, because lines of the evidence file have the same `id` for all of
/// these accounts. The name of an account is its `appTransactionId` or, if a line has none, the `download_id` of a
/// receipt.
///
/// Nearly every `id` has one account, and nearly every account has one `id`. Only the exceptions are stored, to save
/// memory.
struct AccountJoins: Sendable {
    /// An `id` with more accounts than this is a placeholder such as `anonymous`, and doesn't make them one customer.
    static let maximumAccounts = 10

    /// The number of accounts of each placeholder `id`.
    private(set) var accountsByPlaceholder: [CustomerName: Int] = [:]
    /// For each joined account, its parent: another account of the same customer (a union-find structure). Following
    /// the parents leads to the account that is its own parent, and represents all accounts of the customer.
    private var parents: [CustomerName: CustomerName] = [:]

    /// Makes the accounts in all lines with this `id` one customer. If there are too many, the `id` is a placeholder,
    /// and nothing is joined.
    mutating func add(_ accounts: Set<CustomerName>, of id: CustomerName) {
        guard accounts.count > 1 else { return }
        guard accounts.count <= Self.maximumAccounts else {
            accountsByPlaceholder[id] = accounts.count
            return
        }
        let sorted = accounts.sorted { $0.precedes($1) }
        for account in sorted.dropFirst() { join(account, sorted[0]) }
    }

    /// Makes two accounts one customer.
    mutating func join(_ one: CustomerName, _ other: CustomerName) {
        let (first, second) = (root(of: one), root(of: other))
        parents[first] = parents[first] ?? first
        parents[second] = parents[second] ?? second
        // The first name in sorting order represents all accounts, so that the order of joining doesn't matter.
        let (root, child) = first.precedes(second) ? (first, second) : (second, first)
        parents[child] = root
        // A long way from an account to its root would make later searches slow.
        shorten(one, to: root)
        shorten(other, to: root)
    }

    /// Makes `root` the parent of all names between `name` and `root`.
    private mutating func shorten(_ name: CustomerName, to root: CustomerName) {
        var name = name
        while let parent = parents[name], parent != root, name != root {
            parents[name] = root
            name = parent
        }
    }

    /// Whether the account belongs to a customer with several accounts.
    func isJoined(_ account: CustomerName) -> Bool { parents[account] != nil }

    /// Returns the account that represents the customer: the account itself if it isn't joined.
    func root(of account: CustomerName) -> CustomerName {
        var name = account
        while let parent = parents[name], parent != name { name = parent }
        return name
    }

    /// Returns the most reliable of these names if all belong to one customer; nil if they belong to several customers.
    /// Placeholders are ignored, so the result is also nil if all names are placeholders.
    func target(of names: Set<CustomerName>) -> CustomerName? {
        let realNames = names.filter { accountsByPlaceholder[$0] == nil }
        guard let first = realNames.min(by: { $0.precedes($1) }) else { return nil }
        let root = root(of: first)
        return realNames.allSatisfy { self.root(of: $0) == root } ? first : nil
    }
}
