import Foundation
import Logging
import NIOSSL
import TenureCore
import TenureStore

/// How webhooks are sent: the same everywhere but in tests.
struct WebhookDelivery: Sendable {
    var resolver = HostResolver.system
    /// Nil: those of the system.
    var trustRoots: NIOSSLTrustRoots?
    var timeouts = WebhookSender.Timeouts()
    var schedule = RetrySchedule()
    /// Between two looks at the outbox, and at customers.
    var interval = Duration.seconds(1)
}

extension ServiceConfiguration {
    /// What is wrong with the webhooks; nil where nothing is.
    var mistakeOfWebhooks: ServiceError? {
        for webhook in webhooks {
            if let mistake = webhook.mistake { return mistake }
            guard webhooks.filter({ $0.name == webhook.name }).count == 1 else {
                return .webhook(name: webhook.name, detail: "two have this name; give each its own")
            }
        }
        let terms = webhookTerms
        guard (0...365).contains(terms.expiringDays), (4...3650).contains(terms.retentionDays),
            (1...100).contains(terms.concurrency)
        else {
            return .failed("webhooks are told of 0 to 365 days before an end, and kept for 4 to 3650 days")
        }
        return nil
    }

    /// Says in the record who listens, before anything is written there. Takes nobody away: another process may serve
    /// them, and this one may yet fail to start.
    ///
    /// The terms are the policy and the notice: under others, everybody's rights may be others.
    func registerWebhooks(in store: Store) async throws(ServiceError) {
        do {
            let version = try await store.read { try $0.publication() }?.version
            let published = try await store.read { try $0.policies() }.first { $0.version == version }?.sha256
            let sha256 = published ?? ActivePolicy.digest(of: policy)
            let terms = "\(Data(sha256).base64EncodedString()) \(webhookTerms.expiringDays)"
            try await store.write(at: now(), locking: [.endpoints]) {
                try $0.announce(to: webhooks.map(\.endpoint), under: terms)
            }
        } catch {
            throw ServiceError(error)
        }
    }

    /// What runs beside the server for webhooks; nothing where there are none.
    func webhookServices(
        _ announcer: WebhookScheduler?, store: Store, metrics: ServiceMetrics, logger: Logger
    ) throws(ServiceError) -> (announcements: AnnouncementService, deliveries: WebhookService)? {
        guard let announcer, !webhooks.isEmpty else { return nil }
        var sender = try WebhookSender(resolver: webhookDelivery.resolver, trustRoots: webhookDelivery.trustRoots)
        sender.timeouts = webhookDelivery.timeouts
        metrics.register(endpoints: webhooks.map(\.name))
        var workers: [EndpointWorker] = []
        for webhook in webhooks {
            guard let target = try? WebhookTarget(webhook.url, allowsPrivate: webhook.allowsPrivate) else { continue }
            workers.append(
                EndpointWorker(
                    webhook: webhook, target: target, sender: sender, store: store, bundleID: policy.app.bundleID,
                    concurrency: webhookTerms.concurrency, schedule: webhookDelivery.schedule, now: now,
                    interval: webhookDelivery.interval, metrics: metrics, logger: logger))
        }
        let announcements = AnnouncementService(
            announcer: announcer, store: store, retention: TimeInterval(webhookTerms.retentionDays) * 86_400, now: now,
            interval: webhookDelivery.interval, logger: logger)
        return (announcements, WebhookService(workers: workers))
    }
}
