import TenureStore

/// An ID with which the App Store finds a customer's purchases.
enum AppStoreCustomerID: Sendable, Hashable {
    /// A transaction ID or original transaction ID.
    case transaction(String)
    case appTransaction(String)

    /// Chooses one of a customer's identities, which are the IDs by which the database finds the customer: the app
    /// transaction ID, or else the original transaction ID that sorts first. Nil if the customer has neither.
    init?(_ identities: some Sequence<Identity>) {
        let usable = identities.filter { $0.kind == .appTransactionID || $0.kind == .originalTransactionID }
        guard let identity = usable.min(by: { ($0.kind, $0.value) < ($1.kind, $1.value) }) else { return nil }
        self = identity.kind == .appTransactionID ? .appTransaction(identity.value) : .transaction(identity.value)
    }

    /// The ID, for the path of a request.
    var text: String {
        switch self {
        case .transaction(let id), .appTransaction(let id): id
        }
    }
}
