import ServiceLifecycle
import TenureStore

/// Empties the database's log, so that erased data leaves it within a minute, unless a reader needs the log for longer.
struct LogClearing: Service {
    let store: Store

    private static let interval = Duration.seconds(30)
    private static let pause = Duration.seconds(1)

    func run() async throws {
        // A process that was killed may have left erased data in the log.
        var wait = Self.pause
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { [wait] in try await Task.sleep(for: wait) }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            // Each attempt keeps writers waiting, so a long reader is met less and less often.
            wait = await store.database.clearLog() ? Self.interval : min(wait * 2, Self.interval)
        }
    }
}
