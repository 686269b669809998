import TenureStore

/// By what the App Store finds a customer's purchases of the app.
enum AppStoreCustomerID: Sendable, Hashable {
    /// A transaction's own or original id.
    case transaction(String)
    case appTransaction(String)

    /// The most telling of what the record knows a customer by: the account, then the first of the transactions. Nil
    /// where the App Store knows none of it.
    init?(_ identities: some Sequence<Identity>) {
        let strongest = identities.lazy.filter { $0.kind == .appTransactionID || $0.kind == .originalTransactionID }
            .min { ($0.kind, $0.value) < ($1.kind, $1.value) }
        guard let strongest else { return nil }
        self = strongest.kind == .appTransactionID ? .appTransaction(strongest.value) : .transaction(strongest.value)
    }

    var text: String {
        switch self {
        case .transaction(let id), .appTransaction(let id): id
        }
    }
}
