/// The stages in which buckets are read. Each stage has the buckets for one kind of name, from the least to the most
/// reliable kind. Because of this order, each entry has moved to its last bucket before that bucket is read.
enum GatheringStage: Int, CaseIterable, Comparable, Sendable {
    case contents, purchases, exported, downloads, accounts
    /// Joined accounts, under the name of the account that represents them.
    case joined

    init(of kind: CustomerNameKind) {
        self =
            switch kind {
            case .content: .contents
            case .purchase: .purchases
            case .exported: .exported
            case .download: .downloads
            case .appTransaction: .accounts
            }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
