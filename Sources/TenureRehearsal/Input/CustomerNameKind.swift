/// The kinds of names by which an evidence file's lines of one customer are recognized, the weakest first.
///
/// The strongest name in a customer's lines identifies the customer. A line that has only a weaker name belongs to the
/// customer with the strongest name that any line has together with the weaker name. If there are several such
/// customers, the weaker name is ignored. Only the `id` in a line joins several accounts (`AccountJoins`).
enum CustomerNameKind: UInt8, Sendable, Comparable, CaseIterable {
    /// The digest of the artifact, so that a repeated artifact is counted only once.
    case content
    /// `originalTransactionId` of a purchase.
    case purchase
    /// The customer's `id` in the system that exported the lines.
    case exported
    /// `download_id` of a receipt.
    case download
    /// `appTransactionId`, which is the same for all artifacts of an Apple Account and an app.
    case appTransaction

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The name of the kind in reports.
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
    /// The index in `AppStoreEnvironment.allCases` of the environment that signed the artifacts. Environments never
    /// mix.
    let environmentIndex: UInt8
    let text: String

    /// A hash that is the same in every run, which determines the bucket.
    var stableHash: UInt64 {
        var hash = StableHash(seed: UInt64(kind.rawValue) << 8 | UInt64(environmentIndex))
        hash.add(text)
        return hash.value
    }

    /// The text in reports for a customer without an `id` in the evidence file.
    var label: String { "\(kind.label) \(text)" }
}
