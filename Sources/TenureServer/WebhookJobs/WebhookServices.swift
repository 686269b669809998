import Foundation
import Logging
import ServiceLifecycle
import TenureCore
import TenureStore

/// The webhooks of a running service: registered in the database, and delivered by services.
extension ServiceConfiguration {
    /// Stores the webhook endpoints in the database. The service does this before it writes anything else, so that all
    /// later changes queue messages for the endpoints. This method doesn't remove endpoints that aren't in the
    /// configuration: another process may have them in its configuration, and this process may still fail to start.
    ///
    /// If the policy or `expiringDays` changed since the last start, the service compares all customers again.
    func registerWebhooks(in store: Store) async throws(ServiceError) {
        do {
            let version = try await store.read { try $0.publication() }?.version
            let published = try await store.read { try $0.policies() }.first { $0.version == version }?.sha256
            let sha256 = published ?? ActivePolicy.digest(of: policy)
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

/// Sends heartbeats to the database for this process's webhook endpoints, and removes endpoints without a recent
/// heartbeat.
///
/// Several processes may use the database, each with its own configuration. An endpoint that isn't in this process's
/// configuration may be in the configuration of another process, which sends heartbeats for the endpoint. If no
/// heartbeats arrive, no process has the endpoint in its configuration anymore.
struct EndpointRegistry: Service {
    let configuration: ServiceConfiguration
    let store: Store
    let logger: Logger

    private static let interval = Swift.Duration.seconds(60)

    func run() async throws {
        var silence = EndpointSilence()
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            do {
                try await pass(&silence)
            } catch {
                logger.error(
                    "the webhook endpoints can't be updated in the database; trying again",
                    metadata: ["detail": "\(error)"])
            }
        }
    }

    /// Sends heartbeats once, and removes the endpoints that are silent.
    func pass(_ silence: inout EndpointSilence) async throws {
        let now = configuration.now()
        let endpoints = configuration.webhooks.map(\.endpoint)
        if !endpoints.isEmpty,
            try await !store.write(at: now, locking: [.endpoints], { try $0.sendHeartbeats(of: endpoints) })
        {
            try await configuration.registerWebhooks(in: store)
        }
        let silent = silence.silent(among: try await store.read { try $0.endpoints() })
        for endpoint in try await store.removeEndpoints(silent, at: now) {
            logger.warning(
                "no process has this webhook in its configuration anymore; its waiting messages are abandoned",
                metadata: ["endpoint": "\(endpoint.name)", "waiting": "\(endpoint.waiting)"])
        }
    }
}

/// Finds endpoints without a recent heartbeat.
///
/// The type counts how many times this process read the same heartbeat, and uses no clock. So neither a database outage
/// nor differing clocks make an endpoint silent.
struct EndpointSilence {
    /// The number of reads with the same heartbeat, a minute apart, after which an endpoint is silent.
    static let maximum = 10

    /// How many times each endpoint was read with the same heartbeat. The heartbeat is part of `NamedEndpoint`.
    private var reads: [NamedEndpoint: Int] = [:]

    /// Counts a read of all endpoints, and returns the silent endpoints.
    mutating func silent(among endpoints: [NamedEndpoint]) -> [NamedEndpoint] {
        reads = Dictionary(endpoints.map { ($0, (reads[$0] ?? 0) + 1) }, uniquingKeysWith: max)
        return endpoints.filter { (reads[$0] ?? 0) > Self.maximum }
    }
}
