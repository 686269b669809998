import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Delivers to all endpoints: each has a worker of its own, so that a slow one delays no other.
struct WebhookService: Service {
    let workers: [EndpointWorker]

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.run() } }
        }
    }
}

/// Says again and again who listens here, and forgets those whom no running process names any more: only that tells a
/// webhook that was taken out of the configuration from one that another process serves.
struct EndpointRegistry: Service {
    let configuration: ServiceConfiguration
    let store: any Store
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
        if try await !store.keep(configuration.webhooks.map(\.endpoint), at: now) {
            try await configuration.registerWebhooks(in: store)
        }
        let silent = silence.long(among: try await store.endpoints())
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

/// Looks at customers whose rights end, or whom something changed that told nobody, and clears away what is old.
struct AnnouncementService: Service {
    let announcer: Announcer
    let store: any Store
    let retention: TimeInterval
    let now: @Sendable () -> Date
    let interval: Duration
    let logger: Logger

    /// Customers and messages in one transaction: some milliseconds of the database's time.
    private static let batch = 200

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                if try await pass() { continue }
            } catch {
                logger.error("customers cannot be looked at for webhooks", metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    /// One batch of each; returns whether there is more.
    func pass() async throws -> Bool {
        let now = now()
        try await announcer.policies.refreshNow()
        let publication = announcer.policies.present.publication
        let judge: @Sendable (Customer) -> Announcement? = { try? announcer.announcement(of: $0, at: now) }
        let isMoreDue =
            try await store.announceDue(at: now, limit: Self.batch, under: publication, judge) == Self.batch
        let areAllLeft = try await store.announceAll(at: now, limit: Self.batch, under: publication, judge)
        let old = now.addingTimeInterval(-retention)
        let isMoreOld = try await store.pruneMessages(before: old, limit: Self.batch) == Self.batch
        return isMoreDue || areAllLeft || isMoreOld
    }
}
