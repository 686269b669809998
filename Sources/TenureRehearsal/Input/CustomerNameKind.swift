/// By what lines are known to speak of one customer, the weakest first.
///
/// A customer has the strongest name that any line gives them: a weaker one leads to it where a line has both. Where it
/// would lead to two, it leads nowhere. Only an exporter's `id` joins several accounts (`AccountJoins`).
enum CustomerNameKind: UInt8, Sendable, Comparable, CaseIterable {
    /// The digest of what was signed: the same artifact twice is one.
    case content
    /// `originalTransactionId` of a purchase.
    case purchase
    /// What the exporter of the file called the customer.
    case exported
    /// `download_id` of a receipt.
    case download
    /// `appTransactionId`: one per Apple Account and app.
    case appTransaction

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// As reports write it.
    var label: String {
        switch self {
        case .content: "content"
        case .purchase: "originalTransactionID"
        case .exported: "id"
        case .download: "downloadID"
        case .appTransaction: "appTransactionID"
        }
    }
}

/// One name of a customer in one environment.
struct CustomerName: Sendable, Hashable {
    let kind: CustomerNameKind
    /// Of the environment in which it was signed: environments never mix.
    let realm: UInt8
    let text: String

    var stableHash: UInt64 {
        var hash = StableHash(seed: UInt64(kind.rawValue) << 8 | UInt64(realm))
        hash.add(text)
        return hash.value
    }

    /// How a report calls the customer who has no better name.
    var label: String { "\(kind.label) \(text)" }
}
