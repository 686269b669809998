import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Says again and again who listens here, and forgets those whom no running process names any more: only that tells a
/// webhook that was taken out of the configuration from one that another process serves.
struct EndpointRegistry: Service {
    let configuration: ServiceConfiguration
    let store: Store
    let logger: Logger

    private static let interval = Duration.seconds(60)

    func run() async throws {
        var silence = EndpointSilence()
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            do {
                try await pass(&silence)
            } catch {
                logger.error("who listens cannot be recorded", metadata: ["detail": "\(error)"])
            }
        }
    }

    func pass(_ silence: inout EndpointSilence) async throws {
        let now = configuration.now()
        let endpoints = configuration.webhooks.map(\.endpoint)
        if !endpoints.isEmpty, try await !store.write(at: now, locking: [.endpoints], { try $0.keep(endpoints) }) {
            try await configuration.registerWebhooks(in: store)
        }
        let silent = silence.long(among: try await store.read { try $0.endpoints() })
        for endpoint in try await store.forget(silent, at: now) {
            logger.warning(
                "no service names this webhook any more; what waited for it is given up",
                metadata: ["endpoint": "\(endpoint.name)", "waiting": "\(endpoint.waiting)"])
        }
    }
}

/// Which endpoints have given no sign for long, as this process saw it: by its own looks and no clock, so that a record
/// that was away, or clocks that differ, make nobody silent.
struct EndpointSilence {
    /// Looks, a minute apart.
    static let most = 10

    private var looks: [NamedEndpoint: Int] = [:]

    mutating func long(among endpoints: [NamedEndpoint]) -> [NamedEndpoint] {
        looks = Dictionary(endpoints.map { ($0, (looks[$0] ?? 0) + 1) }, uniquingKeysWith: max)
        return endpoints.filter { (looks[$0] ?? 0) > Self.most }
    }
}
