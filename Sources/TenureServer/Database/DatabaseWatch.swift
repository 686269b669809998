import Logging
import ServiceLifecycle
import TenureCore
import TenureStore

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
