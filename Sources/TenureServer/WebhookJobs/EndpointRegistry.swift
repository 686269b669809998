import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Sends heartbeats for this process's webhook endpoints, and removes endpoints without a recent heartbeat.
///
/// A missing heartbeat is how the service distinguishes an endpoint that was removed from the configuration from one
/// that another process serves.
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
                logger.error(
                    "the webhook endpoints can't be updated in the database; trying again",
                    metadata: ["detail": "\(error)"])
            }
        }
    }

    func pass(_ silence: inout EndpointSilence) async throws {
        let now = configuration.now()
        let endpoints = configuration.webhooks.map(\.endpoint)
        if !endpoints.isEmpty,
            try await !store.write(at: now, locking: [.endpoints], { try $0.sendHeartbeats(of: endpoints) })
        {
            try await configuration.registerWebhooks(in: store)
        }
        let silent = silence.long(among: try await store.read { try $0.endpoints() })
        for endpoint in try await store.removeEndpoints(silent, at: now) {
            logger.warning(
                "no process is configured for this webhook anymore; its waiting messages are abandoned",
                metadata: ["endpoint": "\(endpoint.name)", "waiting": "\(endpoint.waiting)"])
        }
    }
}

/// Finds endpoints without a recent heartbeat.
///
/// It counts how often this process read the same heartbeat, and uses no clock. So neither a database outage nor
/// differing clocks make an endpoint silent.
struct EndpointSilence {
    /// The number of reads with the same heartbeat, a minute apart, after which an endpoint counts as silent.
    static let maximum = 10

    private var looks: [NamedEndpoint: Int] = [:]

    mutating func long(among endpoints: [NamedEndpoint]) -> [NamedEndpoint] {
        looks = Dictionary(endpoints.map { ($0, (looks[$0] ?? 0) + 1) }, uniquingKeysWith: max)
        return endpoints.filter { (looks[$0] ?? 0) > Self.maximum }
    }
}
