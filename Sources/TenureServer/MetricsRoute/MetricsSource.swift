import CoreMetrics
import Foundation
import TenureCore
import TenureFileAttributes
import TenureStore

/// What `/metrics` reports about one app: the events that were counted, and values that are read for each response,
/// such as the size of the database.
struct MetricsSource: Sendable {
    /// The app's name, which becomes a label. Nil in a service with one app, and for metrics that belong to no app.
    let app: String?
    let metrics: ServiceMetrics
    /// The app's database; nil while the app can't start.
    var store: Store?
    /// The path of the SQLite file; nil for a database server.
    var database: String?
    /// The app's signing keys; nil while the app can't start.
    var signingKeys: SigningKeys?
    /// The names of the webhook endpoints.
    var webhooks: [String] = []
    /// The environments from which the service fetches notifications that it missed; nil if it has no key for the App
    /// Store Server API.
    var environments: [AppStoreEnvironment]?

    /// All metrics of these apps in Prometheus' text format. Each metric comes once, with the series of every app.
    ///
    /// While the database doesn't respond, the values from the database are left out. The other metrics are still
    /// reported, because operators need them during an outage.
    static func text(of sources: [MetricsSource]) async -> String {
        var families = process(startedAt: sources.map(\.metrics.startedAt).min() ?? Date())
        for source in sources {
            let labels = source.app.map { [PrometheusLabel("app", $0)] } ?? []
            let measured = PrometheusFactory()
            await source.read(into: measured)
            for family in [source.metrics.factory, measured].flatMap(\.families.values) {
                families[family.name, default: PrometheusFamily(name: family.name, kind: family.kind)].series +=
                    family.series.map { PrometheusFamily.Series(labels: labels + $0.labels, value: $0.value) }
            }
        }
        return MetricName.allCases.compactMap { families[$0.rawValue]?.text(help: $0.help) }.joined()
    }

    /// The metrics of the process, which all apps share.
    private static func process(startedAt started: Date) -> [String: PrometheusFamily] {
        let factory = PrometheusFactory()
        factory.set(.start, started.timeIntervalSince1970)
        if let bytes = residentMemory { factory.set(.residentMemory, Double(bytes)) }
        Counter(label: MetricName.bodiesDropped.rawValue, factory: factory)
            .increment(by: BodyBudget.process.droppedBodies)
        return factory.families
    }

    /// Stores in the factory the values that are measured for each response, and not counted.
    private func read(into factory: PrometheusFactory) async {
        for (suffix, file) in [("", "database"), ("-wal", "log")] {
            guard let database, let bytes = FileState(path: database + suffix)?.size else { continue }
            factory.set(.databaseBytes, Double(bytes), [("file", file)])
        }
        if case .until(let end)? = signingKeys?.current.period {
            factory.set(.signingPeriodEnd, end.timeIntervalSince1970)
        }
        guard let store else { return }
        for pool in store.database.connectionPools {
            let labels = [("purpose", pool.purpose.rawValue)]
            factory.set(.databaseConnections, Double(pool.open), labels)
            factory.set(.databaseConnectionLimit, Double(pool.limit), labels)
            factory.set(.databaseOperationsWaiting, Double(pool.waiting), labels)
        }
        if let environments { try? await readProgress(of: environments, in: store, into: factory) }
        guard !webhooks.isEmpty, let backlog = try? await store.read({ try $0.webhookBacklog() }) else { return }
        for endpoint in webhooks {
            let waiting = backlog[endpoint]
            factory.set(.webhooksWaiting, Double(waiting?.count ?? 0), [("endpoint", endpoint)])
            guard let waiting else { continue }
            factory.set(.oldestWebhook, waiting.oldest.timeIntervalSince1970, [("endpoint", endpoint)])
        }
    }

    /// Stores in the factory how far this service is in fetching transaction histories, and notifications that it
    /// missed, from the App Store. Stores nothing if the database fails.
    private func readProgress(
        of environments: [AppStoreEnvironment], in store: Store, into factory: PrometheusFactory
    ) async throws(StoreError) {
        let unfinishedHistories = try await store.read { try $0.unfinishedJobCount() }
        // For each environment by name, the time up to which no notification is missing, in seconds since 1970.
        var reachedInstants: [String: Double] = [:]
        for environment in environments {
            let name = MissedNotifications.progressName(for: environment)
            let text = try await store.read { try $0.storedValue(named: name) }
            reachedInstants[environment.rawValue] = text.flatMap { Double($0) }
        }
        factory.set(.historiesWaiting, Double(unfinishedHistories))
        for (environment, instant) in reachedInstants {
            factory.set(.notificationsReached, instant, [("environment", environment)])
        }
    }

    /// The memory of the process in bytes; nil on systems other than Linux. The second number in Linux's file is the
    /// memory in pages.
    private static var residentMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return pages.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }
}

extension PrometheusFactory {
    fileprivate func set(_ name: MetricName, _ value: Double, _ labels: [(String, String)] = []) {
        Meter(label: name.rawValue, dimensions: labels, factory: self).set(value)
    }
}
