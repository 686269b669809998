import Foundation
import TenureCore

/// The service's counters since the process started.
///
/// All metrics are known in advance, and every label has a value from a fixed list, never one that a client chose. So
/// the number of series is bounded.
final class ServiceMetrics: Sendable {
    private let state = Locked(State())
    let started = Date()

    struct Request: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    struct Route: Hashable {
        let method: String
        let route: String
    }

    struct Histogram {
        /// The number of requests that took no longer than the bound with the same index.
        var buckets = [UInt64](repeating: 0, count: ServiceMetrics.bounds.count)
        var sum = 0.0
        var count: UInt64 = 0
    }

    /// The number of decisions by outcome. It isn't a dictionary, because every response counts its decisions under one
    /// lock.
    struct Outcomes {
        private var granted: UInt64 = 0
        private var denied: UInt64 = 0
        private var undetermined: UInt64 = 0

        subscript(outcome: Decision.Outcome) -> UInt64 {
            get {
                switch outcome {
                case .granted: granted
                case .denied: denied
                case .undetermined: undetermined
                }
            }
            set {
                switch outcome {
                case .granted: granted = newValue
                case .denied: denied = newValue
                case .undetermined: undetermined = newValue
                }
            }
        }
    }

    struct State {
        var inFlight = 0
        var requests: [Request: UInt64] = [:]
        var durations: [Route: Histogram] = [:]
        var artifactsCounted: UInt64 = 0
        var artifactsRefused: [String: UInt64] = [:]
        var decisions = Outcomes()
        var slowClients: [ConnectionClock.Phase: UInt64] = [:]
        var closedForRoom: [Connections.Phase: UInt64] = [:]
        var downloads: UInt64 = 0
        var downloadsInProgress = 0
        var downloadedBytes: UInt64 = 0
        var rejectedDownloads: [Downloads.Rejection: UInt64] = [:]
    }

    /// The upper bounds of the histogram's buckets, in seconds.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    func begin() { state.withLock { $0.inFlight += 1 } }

    /// Counts a request. `method` and `route` must be from fixed lists.
    func end(method: String, route: String, status: Int, seconds: Double) {
        state.withLock { state in
            state.inFlight -= 1
            state.requests[Request(method: method, route: route, status: status), default: 0] += 1
            var histogram = state.durations[Route(method: method, route: route)] ?? Histogram()
            state.durations[Route(method: method, route: route)] = nil
            for (index, bound) in Self.bounds.enumerated().reversed() {
                guard seconds <= bound else { break }
                histogram.buckets[index] += 1
            }
            histogram.sum += seconds
            histogram.count += 1
            state.durations[Route(method: method, route: route)] = histogram
        }
    }

    /// Counts the artifacts of one sync. `codes` must be from a fixed list.
    func synced(counted: Int, refused codes: [String]) {
        state.withLock { state in
            state.artifactsCounted += UInt64(max(0, counted))
            for code in codes { state.artifactsRefused[code, default: 0] += 1 }
        }
    }

    func decided(_ decisions: [Decision]) {
        state.withLock { state in
            for index in decisions.indices { state.decisions[decisions[index].outcome] += 1 }
        }
    }

    func closedSlowClient(at phase: ConnectionClock.Phase) { state.withLock { $0.slowClients[phase, default: 0] += 1 } }

    func closedForRoom(in phase: Connections.Phase) { state.withLock { $0.closedForRoom[phase, default: 0] += 1 } }

    func beganDownload() {
        state.withLock { state in
            state.downloads += 1
            state.downloadsInProgress += 1
        }
    }

    func sentDownload(bytes: Int) { state.withLock { $0.downloadedBytes += UInt64(bytes) } }

    func endedDownload() { state.withLock { $0.downloadsInProgress -= 1 } }

    func rejectedDownload(_ rejection: Downloads.Rejection) {
        state.withLock { $0.rejectedDownloads[rejection, default: 0] += 1 }
    }

    var snapshot: State { state.withLock { $0 } }
}
