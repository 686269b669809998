/// The kinds of names that connect lines of one customer, the weakest first.
///
/// The strongest name of all lines identifies the customer. A weaker name leads to it if a line has both. A name that
/// would lead to two customers is ignored. Only an exported `id` joins several accounts (`AccountJoins`).
enum CustomerNameKind: UInt8, Sendable, Comparable, CaseIterable {
    /// The digest of the artifact, so that the same artifact counts once.
    case content
    /// `originalTransactionId` of a purchase.
    case purchase
    /// The customer's `id` in the system that exported the lines.
    case exported
    /// `download_id` of a receipt.
    case download
    /// `appTransactionId`: one per Apple Account and app.
    case appTransaction

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The text in reports.
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
    /// The environment that signed the artifacts. Environments never mix.
    let realm: UInt8
    let text: String

    var stableHash: UInt64 {
        var hash = StableHash(seed: UInt64(kind.rawValue) << 8 | UInt64(realm))
        hash.add(text)
        return hash.value
    }

    /// The name in a report for a customer without a better one.
    var label: String { "\(kind.label) \(text)" }
}
