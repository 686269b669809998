import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// The verified transactions of one customer in responses of the App Store.
struct TransactionList: Sendable {
    let environment: AppStoreEnvironment
    /// The verified transactions, in the order of the responses.
    private(set) var transactions: [(artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)] = []
    /// The artifacts that were rejected. The index in each path counts from the start of the whole list.
    private(set) var rejected: [RejectedArtifact] = []
    /// Apple's token with which to ask for the next page; nil before the first page.
    var revision: String?
    /// Why no further page is read; nil while pages are read.
    var ending: PageTrail.Ending?
    /// The number of transactions, including the rejected transactions.
    private var count: Int { transactions.count + rejected.count }
    /// The bytes of all transactions, including the rejected transactions.
    private var size = 0

    /// Whether all pages were read, and no transaction was rejected.
    var isComplete: Bool { ending == .lastPage && rejected.isEmpty }

    /// The most pages of 20 transactions. The database keeps at most as many artifacts of one customer.
    static let maximumPages = 250
    /// The most bytes of a list, to limit the memory.
    static let maximumBytes = 64 * 1024 * 1024

    init(in environment: AppStoreEnvironment) {
        self.environment = environment
    }

    /// Verifies and adds the transactions of a page. Adds the transactions that can't be verified to `rejected`. Throws
    /// `untrusted` if such a transaction may be verified later.
    mutating func add(_ page: [String], by verifier: AppStoreVerifier, now: Date) throws(AppStoreFailure) {
        for jws in page {
            size += jws.utf8.count
            guard size <= Self.maximumBytes else { throw .tooLarge(limit: Self.maximumBytes) }
            do throws(Rejection) {
                transactions.append(
                    try verifier.verified(transaction: jws, at: .transaction(count), in: environment, now: now))
            } catch {
                if error.isRetryable { throw .untrusted(error) }
                rejected.append(RejectedArtifact(.transaction(count), error))
            }
        }
    }
}

/// Counts the pages of a list that were read, and decides whether to read the next page. Each page has the token of the
/// next page, so without this check a server could keep the client busy forever.
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
    init(maximumPages: Int) {
        self.maximumPages = maximumPages
    }

    /// Counts a page that was read. Returns why the list ends with it; nil if the page with the token `next` is to be
    /// read too.
    mutating func ending(hasMore: Bool, next: String?) -> Ending? {
        count += 1
        guard hasMore else { return .lastPage }
        guard let next, !next.isEmpty, tokens.insert(next).inserted else { return .circle }
        return count < maximumPages ? nil : .tooLong
    }
}
