import CommandRunner
import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// The system's background downloads, simulated in the test's process. They continue without the app's objects.
final class SystemDownloads: BackgroundDownloads {
    private struct State: Sendable {
        var orders: [BackgroundOrder] = []
        var received: [String: Int64] = [:]
        var running: [String: Task<Void, Never>] = [:]
        var results: [BackgroundResult] = []
        var ended: (@Sendable (BackgroundResult) -> Void)?
        var canceled: Set<String> = []
        /// Ended downloads that are still listed.
        var lingering: Set<String> = []
        var held: @Sendable (BackgroundOrder) -> Int64? = { _ in nil }
        var change: @Sendable (BackgroundResult) -> BackgroundResult = { $0 }
    }

    private let folder: Folder
    private let state = Locked(State())

    init() throws { folder = try Folder() }

    /// All requested downloads.
    var orders: [BackgroundOrder] { state.withLock { $0.orders } }
    var canceled: Set<String> { state.withLock { $0.canceled } }
    var unfinished: Int { state.withLock { $0.running.count } }

    /// Holds downloads for which `held` returns how many bytes they have, so that they get no more.
    func hold(_ held: @escaping @Sendable (BackgroundOrder) -> Int64?) { state.withLock { $0.held = held } }

    /// Changes the results of downloads.
    func change(_ change: @escaping @Sendable (BackgroundResult) -> BackgroundResult) {
        state.withLock { $0.change = change }
    }

    /// Lists downloads a moment longer than they last, as the system may.
    func linger() { state.withLock { state in state.lingering = Set(state.results.map(\.label)) } }

    /// The app's process ends.
    func disconnect() { state.withLock { $0.ended = nil } }

    func connect(ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void) {
        let results = state.withLock { state in
            state.ended = ended
            defer { state.results = [] }
            return state.results
        }
        for result in results { report(result, to: ended) }
        delivered()
    }

    func downloads() -> [BackgroundStatus] {
        state.withLock { state in
            defer { state.lingering = [] }
            return state.lingering.union(state.running.keys).map {
                BackgroundStatus(label: $0, received: state.received[$0] ?? 0)
            }
        }
    }

    func start(_ orders: [BackgroundOrder]) {
        for order in orders {
            let task = Task { await download(order) }
            state.withLock { state in
                state.orders.append(order)
                state.running[order.label] = task
                state.received[order.label] = state.held(order)
            }
        }
    }

    func cancel(_ labels: Set<String>) {
        let tasks = state.withLock { state in
            state.canceled.formUnion(labels)
            return labels.compactMap { state.running.removeValue(forKey: $0) }
        }
        for task in tasks { task.cancel() }
    }

    private func download(_ order: BackgroundOrder) async {
        while let bytes = state.withLock({ $0.held })(order) {
            state.withLock { $0.received[order.label] = bytes }
            guard (try? await Task.sleep(nanoseconds: 10_000_000)) != nil else { return }
        }
        let path = folder.url(UUID().uuidString)
        var request = TransportRequest(order.url, timeout: 60, bodyLimit: 1 << 30)
        request.headers = order.headers
        var body = Data()
        let head = try? await URLSessionTransport.shared.receive(request, accept: { _ in true }) { piece in
            body += piece
            let count = Int64(body.count)
            state.withLock { $0.received[order.label] = count }
        }
        guard !Task.isCancelled, (try? body.write(to: path)) != nil else { return }
        let result = state.withLock { $0.change }(
            BackgroundResult(
                label: order.label, status: head?.status, contentRange: head?.header("Content-Range"), file: path))
        let ended = state.withLock { state in
            state.running[order.label] = nil
            if state.ended == nil { state.results.append(result) }
            return state.ended
        }
        if let ended { report(result, to: ended) }
    }

    private func report(_ result: BackgroundResult, to ended: (BackgroundResult) -> Void) {
        ended(result)
        if let file = result.file { try? FileManager.default.removeItem(at: file) }
    }
}

/// A web server with links that say whether the one before was refused.
final class LinkSource: LinkedContentSource {
    let identifier = "links"
    private let url: URL
    private let servers = Locked(RangeServers())

    init(_ url: URL) { self.url = url }

    var http: HTTPContent {
        HTTPContent(URLSessionTransport.shared, servers: servers.withLock { $0 }, log: .silent)
    }

    func use(_ servers: RangeServers) { self.servers.withLock { $0 = servers } }

    func list() async throws -> [Tenure.ContentListing] {
        [.catalog(try Data(contentsOf: url.appendingPathComponent("catalog.jws")))]
    }

    func link(to request: Tenure.ContentRequest) throws -> URL {
        var link = URLComponents(url: url.appendingPathComponent(request.digest), resolvingAgainstBaseURL: false)
        if request.wasRefused { link?.query = "refused" }
        return try #require(link?.url)
    }

    func remove(_ pack: String) {}
}
