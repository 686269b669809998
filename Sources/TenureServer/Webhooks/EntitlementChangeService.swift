import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Compares customers' entitlements with what webhooks last reported, and queues messages for the differences. Also
/// removes old messages.
///
/// The service compares a customer in three cases:
/// - An entitlement ends, or ends in `expiringDays`.
/// - An update only marked the customer for a later comparison.
/// - The policy or `expiringDays` has changed. Then it compares all customers.
struct EntitlementChangeService: Service {
    let entitlementComparer: EntitlementComparer
    let store: Store
    /// How many seconds delivered and abandoned messages are kept.
    let retention: TimeInterval
    let now: @Sendable () -> Date
    /// The pause before the next search for customers to compare, after a search that found all of them.
    let interval: Swift.Duration
    let logger: Logger

    /// The number of customers or messages that one transaction handles, which takes a few milliseconds.
    private static let batch = 200

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                if try await pass() { continue }
            } catch {
                logger.error(
                    "changes of entitlements can't be computed for webhooks; trying again",
                    metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    /// Compares one batch of due customers and, after a new policy or a new `expiringDays`, one batch of all customers.
    /// Removes one batch of old messages. Returns whether there is more to do immediately.
    func pass() async throws -> Bool {
        let now = now()
        try await entitlementComparer.policies.refreshNow()
        let publication = entitlementComparer.policies.inEffect.publication
        let evaluate: @Sendable (Customer) -> EntitlementChange? = {
            try? entitlementComparer.entitlementChange(of: $0, at: now)
        }
        // A full batch means that there may be more.
        let isMoreDue =
            try await store.compareDueCustomers(at: now, limit: Self.batch, under: publication, evaluate) == Self.batch
        let hasMoreCustomers = try await store.compareAllCustomers(
            at: now, limit: Self.batch, under: publication, evaluate)
        let keptSince = now.addingTimeInterval(-retention)
        let hasMoreOldMessages = try await store.pruneMessages(before: keptSince, limit: Self.batch) == Self.batch
        return isMoreDue || hasMoreCustomers || hasMoreOldMessages
    }
}
