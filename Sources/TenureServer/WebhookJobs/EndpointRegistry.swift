import Logging
import ServiceLifecycle
import TenureStore

/// Sends heartbeats to the database for this process's webhook endpoints, and removes endpoints without a recent
/// heartbeat.
///
/// Several processes may use the database, each with its own configuration. An endpoint that isn't in this process's
/// configuration may be in the configuration of another process, which sends heartbeats for the endpoint. If no
/// heartbeats arrive, no process has the endpoint in its configuration anymore.
struct EndpointRegistry: Service {
    let configuration: ServiceConfiguration
    let store: Store
    let logger: Logger

    private static let interval = Swift.Duration.seconds(60)

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

    /// Sends heartbeats once, and removes the endpoints that are silent.
    func pass(_ silence: inout EndpointSilence) async throws {
        let now = configuration.now()
        let endpoints = configuration.webhooks.map(\.endpoint)
        // If another process has removed one of the endpoints, no heartbeat is sent, so register all again.
        if !endpoints.isEmpty,
            try await !store.write(at: now, locking: [.endpoints], { try $0.sendHeartbeats(of: endpoints) })
        {
            try await configuration.registerWebhooks(in: store)
        }
        let silent = silence.silent(among: try await store.read { try $0.endpoints() })
        for endpoint in try await store.removeEndpoints(silent, at: now) {
            logger.warning(
                "no process has this webhook in its configuration anymore; its waiting messages are abandoned",
                metadata: ["endpoint": "\(endpoint.name)", "waiting": "\(endpoint.waiting)"])
        }
    }
}

/// Finds endpoints without a recent heartbeat.
///
/// The type counts how many times this process read the same heartbeat. It uses no clock, so an endpoint doesn't become
/// silent because the database fails or a clock is wrong.
struct EndpointSilence {
    /// How many reads of the same heartbeat, a minute apart, are allowed. After one more, the endpoint is silent.
    static let maximum = 10

    /// How many times each endpoint was read with the same heartbeat. The heartbeat is part of `NamedEndpoint`.
    private var reads: [NamedEndpoint: Int] = [:]

    /// Counts a read of all endpoints, and returns the silent endpoints.
    mutating func silent(among endpoints: [NamedEndpoint]) -> [NamedEndpoint] {
        reads = Dictionary(endpoints.map { ($0, (reads[$0] ?? 0) + 1) }, uniquingKeysWith: max)
        return endpoints.filter { (reads[$0] ?? 0) > Self.maximum }
    }
}
