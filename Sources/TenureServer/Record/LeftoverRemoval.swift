import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Finishes erasures that a process which ended left unfinished, and removes what is left of large acts: at the start,
/// and again every ten minutes.
struct LeftoverRemoval: Service {
    let store: Store
    let now: @Sendable () -> Date
    let logger: Logger

    private static let interval = Duration.seconds(600)

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                try await store.removeLeftovers(at: now())
            } catch {
                logger.error("what is left of erased customers cannot be removed", metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }
}
