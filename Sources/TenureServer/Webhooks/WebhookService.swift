import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Delivers to all endpoints: each has a worker of its own, so that a slow one delays no other.
struct WebhookService: Service {
    let workers: [EndpointWorker]

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.run() } }
        }
    }
}

/// Looks at customers whose rights end, or whom something changed that told nobody, and clears away what is old.
struct AnnouncementService: Service {
    let announcer: WebhookScheduler
    let store: Store
    let retention: TimeInterval
    let now: @Sendable () -> Date
    let interval: Duration
    let logger: Logger

    /// Customers and messages in one transaction: some milliseconds of the database's time.
    private static let batch = 200

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                if try await pass() { continue }
            } catch {
                logger.error("customers cannot be looked at for webhooks", metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    /// One batch of each; returns whether there is more.
    func pass() async throws -> Bool {
        let now = now()
        try await announcer.policies.refreshNow()
        let publication = announcer.policies.present.publication
        let evaluate: @Sendable (Customer) -> EntitlementChange? = { try? announcer.announcement(of: $0, at: now) }
        let isMoreDue =
            try await store.announceDue(at: now, limit: Self.batch, under: publication, evaluate) == Self.batch
        let areAllLeft = try await store.announceAll(at: now, limit: Self.batch, under: publication, evaluate)
        let old = now.addingTimeInterval(-retention)
        let isMoreOld = try await store.pruneMessages(before: old, limit: Self.batch) == Self.batch
        return isMoreDue || areAllLeft || isMoreOld
    }
}
