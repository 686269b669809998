/// A key that a transaction locks. Transactions with a key in common run one after the other.
package enum LockKey: Sendable, Hashable {
    case identity(Identity, Realm)
    case notification(uuid: String, Realm)
    /// A user of the app, as the app's own server names them.
    case user(String)
    /// A request of an admin key, by its `Idempotency-Key`.
    case request(String, actor: String)
    /// Merges, undone merges and erasures that support requests. These transactions change many rows in different
    /// orders, so two of them could often deadlock. Links and syncs may merge and split customers too, but they are
    /// frequent, so they don't wait for this key. If one of them deadlocks, the database aborts and repeats it (ADR 8).
    case merges
    case adminKeys
    case personas
    case policies
    /// The webhook endpoints, and how far the comparison of all customers for webhooks got.
    case endpoints
    case deliveries(endpoint: String)
    /// A value of the table `progress`, by its name.
    case progress(String)

    /// The text of the key, the same in every process. PostgreSQL locks its hash. SQLite ignores keys, because only one
    /// transaction writes at a time.
    package var text: String {
        switch self {
        case .identity(let identity, let realm): "\(realm.code) \(identity.kind.rawValue) \(identity.value)"
        case .notification(let uuid, let realm): "notification \(realm.code) \(uuid)"
        case .user(let id): "user \(id)"
        case .request(let id, let actor): "request \(actor) \(id)"
        case .merges: "merges"
        case .adminKeys: "keys"
        case .personas: "personas"
        case .policies: "policies"
        case .endpoints: "endpoints"
        case .deliveries(let endpoint): "deliveries to \(endpoint)"
        case .progress(let name): "progress \(name)"
        }
    }
}

extension Collection<Identity> {
    /// The keys that lock these identities.
    package func keys(in realm: Realm) -> [LockKey] { map { .identity($0, realm) } }
}
