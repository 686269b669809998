import ServiceLifecycle
import TenureStore

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
