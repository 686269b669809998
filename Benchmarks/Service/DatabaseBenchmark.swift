import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

@testable import TenureServer

/// The service for `durable-syncs`, `large-sync` and `scaling`. It measures syncs that are stored and flushed, and the
/// verification of their artifacts alone.
struct DatabaseBenchmark: Sendable {
    private let service: TenureService
    private let sync: SyncService
    private let now: Date

    /// - Parameter store: the database to use; nil for the SQLite file of the configuration.
    init(configuration: ServiceConfiguration, store: Store? = nil) async throws(ServiceError) {
        service = try await TenureService(configuration, store: store)
        sync = try service.syncService()
        now = configuration.now()
    }

    /// Returns the seconds until all requests, each of another customer, are synced and flushed.
    func seconds(toSync requests: [SyncRequest], clients: Int) async throws -> Double {
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask {
                    for index in stride(from: client, to: requests.count, by: clients) {
                        let request = requests[index]
                        _ = try await sync.sync(request, on: ClaimedDevice(of: request), now: now, logger: logger)
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - start).seconds
    }

    /// Returns the seconds that verifying app transactions takes, with as many concurrent tasks as there are clients.
    func seconds(toVerify appTransactions: [[UInt8]], clients: Int) async throws -> Double {
        let verifier = sync.verifier
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask {
                    for index in stride(from: client, to: appTransactions.count, by: clients) {
                        _ = try verifier.verifyAppTransaction(appTransactions[index], now: now)
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - start).seconds
    }

    /// Returns the seconds until one sync is written and its response is encoded.
    ///
    /// - Parameters:
    ///   - receipt: a receipt with a hash of the same device.
    ///   - purchases: the number of purchases that the customer must have afterward.
    /// - Throws: `ServiceError` if the customer has another number of purchases, or the response reports problems.
    func seconds(
        toSync appTransaction: [UInt8], transactions: [[UInt8]]? = nil, receipt: [UInt8]? = nil, from device: UUID,
        purchases: Int
    ) async throws -> Double {
        let request = SyncRequest(
            appTransaction: String(decoding: appTransaction, as: UTF8.self),
            transactions: transactions?.map { String(decoding: $0, as: UTF8.self) },
            receipt: receipt.map { Data($0).base64EncodedString() }, deviceVerificationID: device.uuidString,
            deviceIdentifier: device.uuidString)
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        let claimed = try ClaimedDevice(of: request)
        let start = ContinuousClock.now
        let answer = try await sync.sync(request, on: claimed, now: now, logger: logger)
        var json = JSONWriter(capacity: 4096)
        json.value(answer)
        let seconds = (ContinuousClock.now - start).seconds
        guard answer.purchases.count == purchases, answer.problems.isEmpty, !json.bytes.isEmpty else {
            throw ServiceError.failed(
                "the customer has \(answer.purchases.count) purchases instead of \(purchases); problems: \(answer.problems)"
            )
        }
        return seconds
    }

    /// Grants and revokes an entitlement of the customer with this app transaction, then erases them.
    func grantRevokeAndErase(appTransactionID id: String) async throws {
        let realms = [Realm(.production), Realm(.production, isTest: true)]
        guard let customer = try await service.store.read({ try $0.customers(withAnyID: id, in: realms) }).first else {
            throw ServiceError.failed("there is no customer \(id)")
        }
        let changes: [CustomerChange] = [
            .grant(entitlement: "everything", until: nil), .revoke(entitlement: "everything"), .erase,
        ]
        for change in changes {
            _ = try await service.store.perform(
                RequestedChange(change, actor: "bench", at: now), on: .publicID(customer.publicID),
                using: Rederivation { _ throws(StoreError) in CustomerFacts() })
        }
    }

    /// The integer in the first column of a query's first row.
    func integer(_ sql: String) async throws -> Int64 {
        try await service.store.database.read { session throws(StoreError) in
            try session.rows(sql).first?.integer(0) ?? 0
        }
    }

    /// How many times the database was flushed; 0 for PostgreSQL, which doesn't report it.
    var flushes: Int { (service.store.database as? SQLiteDatabase)?.groupsWritten ?? 0 }

    func close() async throws { try await service.store.close() }
}
