import Foundation
import TenureAppStore
import TenureCore

/// The verified transactions of one customer or order in responses of the App Store.
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

    /// The most pages, with 20 transactions each. The database keeps at most 5000 artifacts of one customer.
    static let maximumPages = 250
    /// The most bytes of a list, to limit the memory.
    static let maximumBytes = 64 * 1024 * 1024

    init(in environment: AppStoreEnvironment) { self.environment = environment }

    /// Verifies and adds the transactions of a page. Adds the transactions that can't be verified to `rejected`. Throws
    /// `untrusted` if verifying one of them later may succeed, and `tooLarge` if the list exceeds `maximumBytes`.
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
