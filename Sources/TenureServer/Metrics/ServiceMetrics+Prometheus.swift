import Foundation
import TenureCore

extension ServiceMetrics {
    /// All metrics. `database` is the record's file where it is one.
    func prometheus(database: String?) -> String {
        let state = snapshot
        var text = PrometheusText()
        text.family("process_start_time_seconds", .gauge, "Start of the process.", "\(started.timeIntervalSince1970)")
        if let bytes = Self.residentMemory {
            text.family("process_resident_memory_bytes", .gauge, "Memory of the process in use.", "\(bytes)")
        }
        text.family("tenure_requests_in_flight", .gauge, "Requests that are being answered.", "\(state.inFlight)")
        text.family(
            "tenure_requests_total", .counter, "Requests that were answered.",
            state.requests.map { request, count in
                (
                    [("method", request.method), ("route", request.route), ("status", "\(request.status)")],
                    "\(count)"
                )
            }.ordered)
        text.histograms(
            "tenure_request_duration_seconds", "From the head of a request to its answer.", bounds: Self.bounds,
            state.durations.sorted { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }
                .map { ([("method", $0.key.method), ("route", $0.key.route)], $0.value) })
        text.family(
            "tenure_sync_artifacts_counted_total", .counter, "Artifacts of syncs that were verified and counted.",
            "\(state.artifactsCounted)")
        text.family(
            "tenure_sync_artifacts_refused_total", .counter, "Artifacts of syncs that did not count, and why.",
            state.artifactsRefused.map { ([("code", $0.key)], "\($0.value)") }.ordered)
        text.family(
            "tenure_decisions_total", .counter, "Decisions that were told to clients.",
            Decision.Outcome.allCases.map { ([("outcome", $0.rawValue)], "\(state.decisions[$0, default: 0])") })
        text.family(
            "tenure_slow_clients_total", .counter, "Connections that were closed because the client was too slow.",
            ConnectionClock.Phase.allCases.map { ([("phase", $0.rawValue)], "\(state.slowClients[$0, default: 0])") })
        if let database {
            text.family(
                "tenure_record_bytes", .gauge, "Size of the record's files.",
                ["", "-wal"].compactMap { suffix in
                    Self.size(of: database + suffix).map { ([("file", suffix.isEmpty ? "database" : "log")], "\($0)") }
                })
        }
        return text.text
    }

    private static func size(of path: String) -> Int? {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue
    }

    /// Linux tells it in pages.
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
