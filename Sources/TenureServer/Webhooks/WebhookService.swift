import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Delivers messages to all endpoints. Each endpoint has its own worker, so a slow endpoint doesn't delay the other
/// endpoints.
struct WebhookService: Service {
    let workers: [EndpointWorker]

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.run() } }
        }
    }
}

/// Compares a customer's entitlements with what webhooks last reported: when an entitlement ends, when its end is near,
/// and after a change that queued no messages. A new policy or setting compares all customers. Queues messages for the
/// differences, and removes old messages.
struct EntitlementChangeService: Service {
    let entitlementComparer: EntitlementComparer
    let store: Store
    /// How many seconds delivered and abandoned messages are kept.
    let retention: TimeInterval
    let now: @Sendable () -> Date
    /// The pause before the next search for due customers, if no customer is due anymore.
    let interval: Duration
    let logger: Logger

    /// The number of customers or messages that one transaction handles, which takes a few milliseconds.
    private static let batch = 200

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                if try await pass() { continue }
            } catch {
                logger.error(
                    "customers can't be compared for webhooks; trying again", metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    /// Compares one batch of due customers, and one batch of all customers if a new policy or setting requires that.
    /// Removes one batch of old messages. Returns whether more customers or messages are due.
    func pass() async throws -> Bool {
        let now = now()
        try await entitlementComparer.policies.refreshNow()
        let publication = entitlementComparer.policies.inEffect.publication
        let evaluate: @Sendable (Customer) -> EntitlementChange? = {
            try? entitlementComparer.entitlementChange(of: $0, at: now)
        }
        let isMoreDue =
            try await store.compareDueCustomers(at: now, limit: Self.batch, under: publication, evaluate) == Self.batch
        let hasMoreCustomers = try await store.compareAllCustomers(
            at: now, limit: Self.batch, under: publication, evaluate)
        let keptSince = now.addingTimeInterval(-retention)
        let hasMoreOldMessages = try await store.pruneMessages(before: keptSince, limit: Self.batch) == Self.batch
        return isMoreDue || hasMoreCustomers || hasMoreOldMessages
    }
}
