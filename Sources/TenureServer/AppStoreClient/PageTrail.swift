/// Counts the pages of a list from the App Store that were read, and decides whether to read the next page. Each page
/// has the token of the next page, so without this check a server could keep the client busy forever.
struct PageTrail: Sendable {
    /// Why no further page is read.
    enum Ending: Sendable, Hashable {
        /// The App Store has no more pages.
        case lastPage
        /// The token of the next page is missing or was used before, so the list would never end.
        case circle
        /// The list has too many pages.
        case tooLong
    }

    private let maximumPages: Int
    /// The tokens of all pages after the first.
    private var tokens: Set<String> = []
    private var count = 0

    /// - Parameter maximumPages: The most pages to read.
    init(maximumPages: Int) { self.maximumPages = maximumPages }

    /// Counts a page that was read. Returns why the list ends with this page; nil if the page with the token `next`
    /// must be read, too.
    mutating func ending(hasMore: Bool, next: String?) -> Ending? {
        count += 1
        guard hasMore else { return .lastPage }
        guard let next, !next.isEmpty, tokens.insert(next).inserted else { return .circle }
        return count < maximumPages ? nil : .tooLong
    }
}
