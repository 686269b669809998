import CoreMetrics
import Foundation
import TenureAppStore
import TenureCore

/// The metrics of one app since the process started. Code that handles an event, such as a request, calls the method
/// that counts it.
///
/// The values of labels are from tables of the service, never from a client. Otherwise a client could create any number
/// of series, and fill the memory.
struct ServiceMetrics: Sendable {
    /// Keeps the values of the metrics.
    let factory = PrometheusFactory()
    let startedAt = Date()

    // The labels of each metric that has several.

    private struct Request: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private struct Route: Hashable {
        let method: String
        let route: String
    }

    private struct DecisionResult: Hashable {
        let outcome: Decision.Outcome
        let reason: Reason.Code?
    }

    private struct Attempt: Hashable {
        let endpoint: String
        let result: WebhookResult
    }

    /// The number of requests in progress. The service also reads this number when it stops.
    private let inFlight: PrometheusNumber
    private let requests: MetricSeries<Request, Counter>
    private let durations: MetricSeries<Route, CoreMetrics.Timer>
    private let artifactsCounted: Counter
    private let artifactsRejected: MetricSeries<String, Counter>
    private let decisions: MetricSeries<DecisionResult, Counter>
    private let notifications: MetricSeries<String, Counter>
    private let webhookAttempts: MetricSeries<Attempt, Counter>
    private let slowClients: MetricSeries<SlowClientPhase, Counter>
    /// The connections that were closed to make room for other connections.
    private let closedConnections: MetricSeries<ConnectionPhase, Counter>
    private let downloads: Counter
    private let downloadsInProgress: Meter
    private let downloadBytes: Counter
    private let downloadsRejected: MetricSeries<DownloadRejection, Counter>

    init() {
        let factory = factory
        func counter(_ name: MetricName) -> Counter { Counter(label: name.rawValue, factory: factory) }
        func counters<Labels>(
            _ name: MetricName, _ first: [Labels] = [], labels: @escaping @Sendable (Labels) -> [(String, String)]
        ) -> MetricSeries<Labels, Counter> {
            MetricSeries(first) { Counter(label: name.rawValue, dimensions: labels($0), factory: factory) }
        }
        inFlight = factory.number(MetricName.requestsInFlight.rawValue, [], .gauge)
        requests = counters(.requests) { request in
            [("method", request.method), ("route", request.route), ("status", "\(request.status)")]
        }
        durations = MetricSeries { route in
            Timer(
                label: MetricName.requestDuration.rawValue,
                dimensions: [("method", route.method), ("route", route.route)], factory: factory)
        }
        artifactsCounted = counter(.artifactsCounted)
        artifactsRejected = counters(.artifactsRejected) { [("code", $0)] }
        decisions = counters(.decisions) { result in
            [("outcome", result.outcome.rawValue), ("reason", result.reason?.rawValue ?? "none")]
        }
        notifications = counters(.notifications) { [("type", $0)] }
        webhookAttempts = counters(.webhookAttempts) { attempt in
            [("endpoint", attempt.endpoint), ("result", attempt.result.rawValue)]
        }
        slowClients = counters(.slowClients, SlowClientPhase.allCases) { [("phase", $0.rawValue)] }
        // While the service works on a request, the connection is never closed to make room.
        closedConnections = counters(.closedForRoom, ConnectionPhase.allCases.filter { $0 != .working }) {
            [("phase", $0.rawValue)]
        }
        downloads = counter(.downloads)
        downloadsInProgress = Meter(label: MetricName.downloadsInProgress.rawValue, factory: factory)
        downloadBytes = counter(.downloadBytes)
        downloadsRejected = counters(.downloadsRejected, DownloadRejection.allCases) { [("reason", $0.rawValue)] }
    }

    var requestsInFlight: Int { Int(inFlight.value) }

    /// Counts a request that begins.
    func begin() { inFlight.increment(by: 1.0) }

    /// Counts a request that ended. `method` and `route` are from the service's own tables.
    func end(method: String, route: String, status: Int, seconds: Double) {
        inFlight.decrement(by: 1.0)
        requests[Request(method: method, route: route, status: status)].increment()
        durations[Route(method: method, route: route)].recordSeconds(seconds)
    }

    /// Counts the artifacts of one sync: how many were accepted, and how many were rejected with each error code.
    /// `codes` are from the service's own tables.
    func countSync(accepted: Int, rejected codes: [String]) {
        artifactsCounted.increment(by: max(0, accepted))
        for code in codes { artifactsRejected[code].increment() }
    }

    /// Counts the decisions of a response, by outcome and deciding reason.
    func countDecisions(_ decisions: [Decision]) {
        for decision in decisions {
            let result = DecisionResult(outcome: decision.outcome, reason: decision.leadingReason?.codeValue)
            self.decisions[result].increment()
        }
    }

    /// Counts a notification from the App Store. A type that Tenure doesn't know is counted as `other`.
    func countNotification(type: String) {
        notifications[NotificationType(rawValue: type)?.rawValue ?? "other"].increment()
    }

    /// Counts an attempt to deliver a webhook. `endpoint` is the webhook's name in the configuration.
    func countAttempt(webhookTo endpoint: String, _ result: WebhookResult) {
        webhookAttempts[Attempt(endpoint: endpoint, result: result)].increment()
    }

    /// Creates the counters of these webhook endpoints. They begin at zero, so that an alert notices the first failure.
    func register(endpoints: [String]) {
        for endpoint in endpoints {
            for result in WebhookResult.allCases { _ = webhookAttempts[Attempt(endpoint: endpoint, result: result)] }
        }
    }

    /// Stores the date at which the TLS certificate in use expires.
    func setCertificateEnd(_ end: Date) {
        Meter(label: MetricName.certificateEnd.rawValue, factory: factory).set(end.timeIntervalSince1970)
    }

    /// Counts a connection that was closed because its client was too slow.
    func closedSlowClient(at phase: SlowClientPhase) { slowClients[phase].increment() }
    /// Counts a connection that was closed to make room for other connections.
    func closedForRoom(in phase: ConnectionPhase) { closedConnections[phase].increment() }

    /// Counts a download that begins.
    func beganDownload() {
        downloads.increment()
        downloadsInProgress.increment()
    }

    func sentDownload(bytes: Int) { downloadBytes.increment(by: bytes) }
    func endedDownload() { downloadsInProgress.decrement() }
    func rejectedDownload(_ rejection: DownloadRejection) { downloadsRejected[rejection].increment() }
}

/// All series of one metric, by their labels. Each series is created when its labels first occur.
private final class MetricSeries<Labels: Hashable & Sendable, Metric: Sendable>: Sendable {
    private let metrics: Locked<[Labels: Metric]>
    private let make: @Sendable (Labels) -> Metric

    /// - Parameters:
    ///   - first: The labels of the series to create now, so that they are reported as 0 before the first event.
    ///   - make: Creates a series. Called for all other labels when they first occur.
    init(_ first: [Labels] = [], make: @escaping @Sendable (Labels) -> Metric) {
        self.make = make
        metrics = Locked(Dictionary(uniqueKeysWithValues: first.map { ($0, make($0)) }))
    }

    subscript(labels: Labels) -> Metric {
        metrics.withLock { metrics in
            if let metric = metrics[labels] { return metric }
            let metric = make(labels)
            metrics[labels] = metric
            return metric
        }
    }
}
