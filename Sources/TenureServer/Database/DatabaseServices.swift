import Foundation
import Logging
import ServiceLifecycle
import TenureCore
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

/// Empties SQLite's write-ahead log regularly, because the log may contain data that was erased from the database. The
/// data stays in the log for at most a minute, or until the last reader of the log is done.
struct LogClearing: Service {
    let store: Store

    private static let interval = Swift.Duration.seconds(30)
    private static let pause = Swift.Duration.seconds(1)

    func run() async throws {
        // The first attempt comes soon, because a process that was killed may have left erased data in the log.
        var wait = Self.pause
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { [wait] in try await Task.sleep(for: wait) }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            // Writers wait during each attempt. So, from the start to the first success, the pauses grow while a long
            // reader keeps the log from being emptied.
            wait = await store.database.clearLog() ? Self.interval : min(wait * 2, Self.interval)
        }
    }
}

/// Detects within a second that the database's file was deleted, moved or overwritten, and logs the first such event.
struct DatabaseWatch: Service {
    let store: Store
    let logger: Logger
    private let isReported = Locked(false)

    private static let interval = Swift.Duration.seconds(1)

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            await check()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }

    /// Checks once. The service also checks before it closes the database, because closing writes to its file.
    func check() async {
        guard let report = await store.replacementReport(), !isReported.exchange(true) else { return }
        logger.critical("\(report)")
    }
}
