import Foundation
import TenureCore

/// The counts of one app, for the metrics response.
struct MetricsSource: Sendable {
    /// The app's name; nil for a single app without a name.
    let app: String?
    let metrics: ServiceMetrics
    /// The path of the SQLite file; nil for a database server.
    let database: String?
    /// Nil if the service doesn't call the App Store.
    let appStore: AppStoreProgress?

    fileprivate var labels: [(String, String)] { app.map { [("app", $0)] } ?? [] }
}

extension ServiceMetrics {
    /// All metrics of these apps, each metric once with the series of every app.
    ///
    /// If the database doesn't respond, its values are left out. The others are needed most at such a time.
    static func prometheus(of sources: [MetricsSource]) async -> String {
        var asked: [(source: MetricsSource, reading: AppStoreProgress.Reading)] = []
        for source in sources {
            if let reading = try? await source.appStore?.reading { asked.append((source, reading)) }
        }
        typealias Series = [(labels: [(String, String)], value: String)]
        let states = sources.map { (source: $0, state: $0.metrics.snapshot) }
        var text = PrometheusText()
        func family(
            _ name: String, _ kind: PrometheusText.Kind, _ help: String, _ series: (State, MetricsSource) -> Series
        ) {
            text.family(
                name, kind, help,
                states.flatMap { source, state in
                    series(state, source).map { (source.labels + $0.labels, $0.value) }
                })
        }
        let started = sources.map(\.metrics.started).min() ?? Date()
        text.family("process_start_time_seconds", .gauge, "Start of the process.", "\(started.timeIntervalSince1970)")
        if let bytes = Self.residentMemory {
            text.family("process_resident_memory_bytes", .gauge, "Memory of the process in use.", "\(bytes)")
        }
        text.family(
            "tenure_bodies_dropped_total", .counter, "Request bodies that were dropped to make room for others.",
            "\(BodyBudget.process.droppedBodies)")
        family("tenure_requests_in_flight", .gauge, "Requests that are being answered.") { state, _ in
            [([], "\(state.inFlight)")]
        }
        family("tenure_requests_total", .counter, "Requests that were answered.") { state, _ in
            state.requests.map { request, count in
                (
                    [("method", request.method), ("route", request.route), ("status", "\(request.status)")],
                    "\(count)"
                )
            }.ordered
        }
        text.histograms(
            "tenure_request_duration_seconds", "Time from the head of a request to its response.", bounds: Self.bounds,
            states.flatMap { source, state in
                state.durations.sorted { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }
                    .map { (source.labels + [("method", $0.key.method), ("route", $0.key.route)], $0.value) }
            })
        family(
            "tenure_sync_artifacts_counted_total", .counter, "Artifacts of syncs that were verified and counted."
        ) { state, _ in [([], "\(state.artifactsCounted)")] }
        family(
            "tenure_sync_artifacts_rejected_total", .counter, "Artifacts of syncs that were rejected, by reason."
        ) { state, _ in state.artifactsRefused.map { ([("code", $0.key)], "\($0.value)") }.ordered }
        family("tenure_decisions_total", .counter, "Decisions in responses to clients.") { state, _ in
            Decision.Outcome.allCases.map { ([("outcome", $0.rawValue)], "\(state.decisions[$0])") }
        }
        family(
            "tenure_slow_clients_total", .counter, "Connections that were closed because the client was too slow."
        ) { state, _ in
            ConnectionClock.Phase.allCases.map { ([("phase", $0.rawValue)], "\(state.slowClients[$0, default: 0])") }
        }
        family(
            "tenure_connections_closed_for_room_total", .counter,
            "Connections that were closed because there were too many."
        ) { state, _ in
            Connections.Phase.allCases.filter { $0 != .working }
                .map { ([("phase", $0.rawValue)], "\(state.closedForRoom[$0, default: 0])") }
        }
        family("tenure_downloads_total", .counter, "Downloads of content that began.") { state, _ in
            [([], "\(state.downloads)")]
        }
        family("tenure_downloads_in_progress", .gauge, "Downloads of content in progress.") { state, _ in
            [([], "\(state.downloadsInProgress)")]
        }
        family("tenure_download_bytes_total", .counter, "Bytes of content that were sent.") { state, _ in
            [([], "\(state.downloadedBytes)")]
        }
        family(
            "tenure_downloads_rejected_total", .counter, "Downloads that were rejected because there were too many."
        ) { state, _ in
            Downloads.Rejection.allCases.map {
                ([("reason", $0.rawValue)], "\(state.rejectedDownloads[$0, default: 0])")
            }
        }
        if sources.contains(where: { $0.database != nil }) {
            family("tenure_database_bytes", .gauge, "Size of the database's files.") { _, source in
                ["", "-wal"].compactMap { suffix in
                    source.database.flatMap { Self.size(of: $0 + suffix) }.map {
                        ([("file", suffix.isEmpty ? "database" : "log")], "\($0)")
                    }
                }
            }
        }
        if !asked.isEmpty {
            text.family(
                AppStoreProgress.waiting, .gauge, "Customers with a history that isn't fetched from the App Store yet.",
                asked.map { ($0.source.labels, "\($0.reading.waiting)") })
            text.family(
                AppStoreProgress.reached, .gauge,
                "The time up to which no notification is missing, in seconds since 1970.",
                asked.flatMap { source, reading in
                    reading.reached.map { (source.labels + [("environment", $0.environment)], $0.instant) }
                })
        }
        return text.text
    }

    private static func size(of path: String) -> Int? {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue
    }

    /// The resident memory in bytes. Linux reports it in pages; other systems aren't supported.
    private static var residentMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return pages.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }
}

extension [(labels: [(String, String)], value: String)] {
    fileprivate var ordered: Self {
        sorted { one, other in one.labels.map(\.1).lexicographicallyPrecedes(other.labels.map(\.1)) }
    }
}
