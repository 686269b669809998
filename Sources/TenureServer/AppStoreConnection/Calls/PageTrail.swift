/// How far the pages of one list were followed. The App Store says where the next one is, so that it could lead us on
/// for ever.
struct PageTrail: Sendable {
    /// Why no further page is asked for.
    enum Ending: Sendable, Hashable {
        case lastPage
        /// There is more, and the way to it was shown before, or not at all.
        case circle
        /// More than a list of its kind can have.
        case tooLong
    }

    private let most: Int
    private var seen: Set<String> = []
    private var count = 0

    /// `token` led to the first page, where it was not the beginning. `most` pages are followed.
    init(from token: String? = nil, most: Int) {
        self.most = most
        if let token { seen.insert(token) }
    }

    /// After a page: nil where another one is to be asked for, with `next`.
    mutating func ending(hasMore: Bool, next: String?) -> Ending? {
        count += 1
        guard hasMore else { return .lastPage }
        guard let next, !next.isEmpty, seen.insert(next).inserted else { return .circle }
        return count < most ? nil : .tooLong
    }
}
