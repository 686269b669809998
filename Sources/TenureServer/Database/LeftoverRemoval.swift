import Foundation
import Logging
import ServiceLifecycle
import TenureStore

/// Cleans up at the start and every ten minutes:
/// - finishes interrupted erasures and publications
/// - removes the rows of interrupted large updates
/// - removes old rows about erased customers
/// - unmarks promises (rights that policy edits can't take) that a refused publication had marked to end
struct LeftoverRemoval: Service {
    let store: Store
    let now: @Sendable () -> Date
    let logger: Logger

    private static let interval = Swift.Duration.seconds(600)

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do {
                try await store.removeLeftovers(at: now())
                try await store.removeOldTombstones(at: now())
                try await store.removeOldMarks(at: now())
            } catch {
                logger.error(
                    "can't remove leftovers of erasures, updates and publications; trying again in ten minutes",
                    metadata: ["detail": "\(error)"])
            }
            do {
                // Completing a publication takes minutes for hundreds of thousands of promises. If the process stops,
                // the next process continues.
                try await cancelWhenGracefulShutdown { try await store.finishPublication(at: now()) }
            } catch {
                guard !Task.isShuttingDownGracefully else { return }
                logger.error(
                    "can't update all promises that the last publication ends or restores; trying again in ten minutes",
                    metadata: ["detail": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }
}
