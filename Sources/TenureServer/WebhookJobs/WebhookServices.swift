import Foundation
import Logging
import ServiceLifecycle
import TenureCore
import TenureStore

/// Registers the webhooks of a starting service in the database, and creates the services that deliver messages.
extension ServiceConfiguration {
    /// Stores the webhook endpoints in the database. The service does this before it writes anything else, so that all
    /// later changes queue messages for the endpoints. This method doesn't remove endpoints that aren't in the
    /// configuration: another process may have them in its configuration, and this process may still fail to start.
    ///
    /// If the policy or `expiringDays` changed since the last start, the service compares the entitlements of
    /// all customers with what the webhooks last sent.
    func registerWebhooks(in store: Store) async throws(ServiceError) {
        do {
            let version = try await store.read { try $0.publication() }?.version
            let publishedSHA256 = try await store.read { try $0.policies() }.first { $0.version == version }?.sha256
            let sha256 = publishedSHA256 ?? ActivePolicy.digest(of: policy)
            let comparisonKey = "\(Data(sha256).base64EncodedString()) \(webhookSettings.expiringDays)"
            try await store.write(at: now(), locking: [.endpoints]) {
                try $0.register(webhooks.map(\.endpoint), comparisonKey: comparisonKey)
            }
        } catch {
            throw ServiceError(error)
        }
    }

    /// Returns the services that find and deliver messages while the server runs; nil if there are no webhooks.
    func webhookServices(
        _ entitlementComparer: EntitlementComparer?, store: Store, metrics: ServiceMetrics, logger: Logger
    ) throws(ServiceError) -> (entitlementChanges: EntitlementChangeService, deliveries: WebhookService)? {
        guard let entitlementComparer, !webhooks.isEmpty else { return nil }
        var sender = try WebhookSender(resolver: webhookDelivery.resolver, trustRoots: webhookDelivery.trustRoots)
        sender.timeouts = webhookDelivery.timeouts
        metrics.register(endpoints: webhooks.map(\.name))
        let workers = webhooks.compactMap { webhook -> EndpointWorker? in
            // The service doesn't start with an invalid URL.
            guard let target = try? webhook.target.get() else { return nil }
            return EndpointWorker(
                webhook: webhook, target: target, sender: sender, store: store, bundleID: policy.app.bundleID,
                concurrency: webhookSettings.concurrency, schedule: webhookDelivery.schedule, now: now,
                interval: webhookDelivery.interval, metrics: metrics, logger: logger)
        }
        let entitlementChanges = EntitlementChangeService(
            entitlementComparer: entitlementComparer, store: store,
            retention: TimeInterval(webhookSettings.retentionDays) * 86_400, now: now,
            interval: webhookDelivery.interval, logger: logger)
        return (entitlementChanges, WebhookService(workers: workers))
    }
}

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
