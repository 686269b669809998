import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Finishes interrupted erasures and publications, and removes the rows of interrupted large updates, old notes about
/// erased customers, and the marks of publications that didn't take effect: at the start, and every ten minutes.
struct LeftoverRemoval: Service {
    let store: Store
    let now: @Sendable () -> Date
    let logger: Logger

    private static let interval = Duration.seconds(600)

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                try await store.removeLeftovers(at: now())
                try await store.removeOldDepartures(at: now())
                try await store.removeOldMarks(at: now())
            } catch {
                logger.error("can't remove rows that aren't needed; trying again", metadata: ["detail": "\(error)"])
            }
            do {
                // It takes minutes for hundreds of thousands of promises. The next process continues it.
                try await cancelWhenGracefulShutdown { try await store.finishPublication(at: now()) }
            } catch {
                guard !Task.isShuttingDownGracefully else { return }
                logger.error(
                    "can't end and restore all promises of a publication; trying again",
                    metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }
}
