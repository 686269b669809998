import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Delivers webhook messages to one endpoint until the service stops, several messages at the same time.
///
/// The messages wait in the outbox, a table of the database. The worker reserves some of them, sends them, and stores
/// the results.
struct EndpointWorker: Sendable {
    let webhook: Webhook
    let target: WebhookTarget
    let sender: WebhookSender
    let store: Store
    /// The bundle ID of the app, which each message contains.
    let bundleID: String
    /// The maximum number of concurrent deliveries.
    let concurrency: Int
    let schedule: RetrySchedule
    let now: @Sendable () -> Date
    /// The time between two reads of the outbox.
    let interval: Duration
    let metrics: ServiceMetrics
    let logger: Logger

    /// How long deliveries are reserved for this process, in seconds: much longer than an attempt can take. Afterward,
    /// this process has probably been killed, so any process may deliver them.
    private static let lease: TimeInterval = 120
    /// After this many failures in a row, only one message is tried per read of the outbox, until one is delivered.
    private static let failureLimit = 5

    /// What the loop in `run` waits for.
    private enum Event: Sendable {
        /// It is time to read the outbox again.
        case readIsDue
        /// An attempt to deliver a message has ended.
        case attempted(isDelivered: Bool)
    }

    /// Delivers messages until the service is asked to stop. Returns when all started attempts have ended.
    func run() async {
        await withTaskGroup(of: Event.self) { group in
            // The number of attempts that haven't ended.
            var inFlight = 0
            // The number of failed attempts since a message was last delivered.
            var failures = 0
            var isReadDue = true
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                // Starts as many deliveries as allowed. After an attempt, the worker looks for more deliveries at once,
                // unless the endpoint is failing.
                let isFailing = failures >= Self.failureLimit
                let free = (isFailing ? 1 : concurrency) - inFlight
                if free > 0, isReadDue || !isFailing {
                    for delivery in await claim(free) {
                        inFlight += 1
                        group.addTask { .attempted(isDelivered: await attempt(delivery)) }
                    }
                }
                if isReadDue {
                    isReadDue = false
                    group.addTask {
                        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
                        return .readIsDue
                    }
                }
                // Waits until an attempt has ended or the outbox must be read again.
                switch await group.next() {
                case .readIsDue?: isReadDue = true
                case .attempted(let isDelivered)?:
                    inFlight -= 1
                    failures = isDelivered ? 0 : failures + 1
                case nil: return
                }
            }
        }
    }

    /// Tries each due delivery, and waits for the results. Returns the number of attempts. Tests call this method
    /// instead of `run`.
    func pass() async -> Int {
        var count = 0
        while true {
            let deliveries = await claim(concurrency)
            guard !deliveries.isEmpty else { return count }
            count += deliveries.count
            await withTaskGroup(of: Void.self) { group in
                for delivery in deliveries { group.addTask { _ = await attempt(delivery) } }
            }
        }
    }

    /// Reserves up to `limit` due deliveries for this process.
    private func claim(_ limit: Int) async -> [Delivery] {
        do {
            return try await store.claimDeliveries(to: webhook.name, at: now(), limit: limit, lease: Self.lease)
        } catch {
            logger.error("the waiting webhook messages can't be read; trying again", metadata: ["detail": "\(error)"])
            return []
        }
    }

    /// Sends a message, and stores and logs the result. Returns whether the message was delivered.
    private func attempt(_ delivery: Delivery) async -> Bool {
        let body = delivery.message.body(app: bundleID)
        let headers = WebhookSignature.headers(
            of: body, event: delivery.message.event, at: now(), secrets: webhook.secrets)
        let answer = await sender.send(body, headers: headers, to: target, attempt: delivery.attempt)
        let outcome = outcome(of: delivery, answer)
        do {
            try await store.write(at: now()) { try $0.recordAttempt(of: delivery, outcome) }
        } catch {
            logger.error(
                "the result of a webhook delivery can't be stored; the message is sent again within two minutes",
                metadata: ["detail": "\(error)"])
        }
        metrics.countAttempt(webhookTo: webhook.name, outcome.result)
        log(delivery, outcome)
        return outcome.result == .delivered
    }

    /// Returns the result to store: delivered if the status is 2xx, otherwise failed, with the time of the next
    /// attempt. The time is nil if the message is abandoned.
    private func outcome(of delivery: Delivery, _ answer: WebhookSender.Answer) -> Delivery.Outcome {
        let now = now()
        func retry(_ retryAfter: String? = nil) -> Date? {
            schedule.retry(
                after: delivery.attempt, queuedAt: delivery.queuedAt,
                retryAfter: RetrySchedule.retryAfter(retryAfter, at: now), at: now)
        }
        switch answer {
        case .status(let status, _) where (200..<300).contains(status): return .delivered(status: status)
        case .status(let status, _) where (300..<400).contains(status):
            return .failed(
                status: status, detail: "the endpoint redirects, and redirects aren't followed; set the final URL",
                retryAt: retry())
        case .status(let status, let retryAfter):
            return .failed(status: status, detail: "the endpoint answered \(status)", retryAt: retry(retryAfter))
        case .noResponse(let detail): return .failed(status: nil, detail: detail, retryAt: retry())
        }
    }

    private func log(_ delivery: Delivery, _ outcome: Delivery.Outcome) {
        var metadata: Logger.Metadata = [
            "event": "\(delivery.message.event)", "type": "\(delivery.message.type)", "endpoint": "\(webhook.name)",
            "attempt": "\(delivery.attempt)",
        ]
        switch outcome {
        case .delivered: logger.debug("webhook delivered", metadata: metadata)
        case .failed(_, let detail, let retryAt?):
            metadata["detail"] = "\(detail)"
            metadata["retryIn"] = "\(Int(retryAt.timeIntervalSince(now())))s"
            logger.notice("a webhook delivery failed; trying again later", metadata: metadata)
        case .failed(_, let detail, nil):
            metadata["detail"] = "\(detail)"
            logger.error("webhook message abandoned; `tenure webhook replay` sends it again", metadata: metadata)
        }
    }
}

extension Delivery.Outcome {
    fileprivate var result: WebhookResult {
        switch self {
        case .delivered: .delivered
        case .failed(_, _, retryAt: nil): .givenUp
        case .failed: .failed
        }
    }
}
