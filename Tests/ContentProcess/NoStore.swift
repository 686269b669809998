import Foundation
import Tenure
import TenureCore

/// Replaces the App Store in a copy of the app from outside the App Store. The client never asks it, and allows
/// everything.
struct NoStore: AppStoreAccess {
    struct NotAsked: Error {}

    var distribution: Tenure.Distribution { .direct }
    var trustsTestAuthorities: Bool { true }
    var bundleID: String? { "com.example.calculator" }
    var deviceVerificationID: UUID? { nil }
    var deviceIdentifier: String? { nil }
    var receipt: Data? { nil }

    func appTransaction() throws -> AppStoreResult<AppStoreAppTransaction> { throw NotAsked() }
    func transactions(productIDs: [String]) -> [AppStoreResult<AppStoreTransaction>] { [] }
    func renewals(of transactions: [AppStoreTransaction]) -> [AppStoreResult<AppStoreRenewal>] { [] }
    func unfinished() -> [AppStoreTransaction] { [] }
    func updates() -> AsyncStream<AppStoreResult<AppStoreTransaction>> { AsyncStream { $0.finish() } }
    func finish(_ transactionID: String) {}
    func synchronize() throws { throw NotAsked() }
    func refreshAppTransaction() throws -> AppStoreResult<AppStoreAppTransaction> { throw NotAsked() }
}
