/// The kinds of names (IDs) by which a rehearsal recognizes the lines of one customer in an evidence file, the least
/// reliable kind first.
///
/// The most reliable name in a customer's lines identifies the customer. A line with only a less reliable name belongs
/// to the same customer as a line that has this name and a more reliable one. If such lines are of several customers,
/// the less reliable name is ignored. Only the `id` in a line can make several Apple Accounts one customer
/// (`AccountJoins`).
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

    /// What reports call the kind.
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
    /// The index in `AppStoreEnvironment.allCases` of the environment that signed the artifacts. The same ID in two
    /// environments means two customers.
    let environmentIndex: UInt8
    /// The ID itself.
    let text: String

    /// A hash that is the same in every run. It determines the bucket (`SpillFolder`).
    var stableHash: UInt64 {
        var hash = StableHash(seed: UInt64(kind.rawValue) << 8 | UInt64(environmentIndex))
        hash.add(text)
        return hash.value
    }

    /// How reports that show IDs name a customer without an `id` in the evidence file.
    var label: String { "\(kind.label) \(text)" }

    /// Sorts names: the most reliable kind first, then by environment and text.
    func precedes(_ other: CustomerName) -> Bool {
        if kind != other.kind { return kind > other.kind }
        return (environmentIndex, text) < (other.environmentIndex, other.text)
    }
}
