import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// Transactions of one customer that the App Store answered with, as far as they could be verified.
struct TransactionList: Sendable {
    let environment: AppStoreEnvironment
    private(set) var transactions: [(artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)] = []
    /// What did not count, by its place in the whole list.
    private(set) var rejected: [RejectedArtifact] = []
    /// With which only what changes from now on is answered; nil where the last page named none.
    var revision: String?
    /// Nil while there are more pages to ask for.
    var ending: PageTrail.Ending?
    /// Of all that was answered, sound or not.
    private var count = 0
    private var size = 0

    /// Whether every page was seen, and everything on it counts.
    var isComplete: Bool { ending == .lastPage && rejected.isEmpty }

    /// As many pages as the record takes artifacts of one customer, 20 on a page.
    static let mostPages = 250
    /// Bytes, so that no answer fills the memory.
    static let mostBytes = 64 * 1024 * 1024

    init(in environment: AppStoreEnvironment) {
        self.environment = environment
    }

    /// Throws `untrusted` where the verifier can judge later only.
    mutating func add(_ page: [String], by verifier: AppStoreVerifier, now: Date) throws(AppStoreFailure) {
        for jws in page {
            size += jws.utf8.count
            guard size <= Self.mostBytes else { throw .tooLarge(limit: Self.mostBytes) }
            do throws(Rejection) {
                transactions.append(
                    try verifier.answered(transaction: jws, at: .transaction(count), in: environment, now: now))
            } catch {
                if error.isRetryable { throw .untrusted(error) }
                rejected.append(RejectedArtifact(.transaction(count), error))
            }
            count += 1
        }
    }
}
