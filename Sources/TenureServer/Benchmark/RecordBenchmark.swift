public import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// What the benchmark `record-durable-syncs` needs of the service: many syncs at once, each recorded and flushed, and
/// what verifying their artifacts alone costs. For the package under `Benchmarks/` only.
@_spi(Benchmarks)
public struct RecordBenchmark: Sendable {
    private let service: TenureService
    private let sync: SyncService
    private let now: Date

    public init(configuration: ServiceConfiguration) async throws(ServiceError) {
        service = try await TenureService(configuration)
        sync = try service.syncService()
        now = configuration.now()
    }

    /// Seconds until all app transactions, each of another customer, are synced and flushed by so many clients.
    public func seconds(toSync appTransactions: [[UInt8]], from device: UUID, clients: Int) async throws -> Double {
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        let requests = appTransactions.map {
            SyncRequest(
                appTransaction: String(decoding: $0, as: UTF8.self), deviceVerificationID: device.uuidString)
        }
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

    /// Seconds of wall time to verify them with as many threads as the syncs have.
    public func seconds(toVerify appTransactions: [[UInt8]], clients: Int) async throws -> Double {
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

    /// How often the record was flushed.
    public var flushes: Int { (service.store as? SQLiteStore)?.groupsWritten ?? 0 }

    public func close() async throws { try await service.store.close() }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
