import Logging
import ServiceLifecycle
import TenureStore

/// Closes the database when the service ends. Logs how many requests were aborted by the shutdown timeout.
struct DatabaseClosing: Service {
    let store: Store
    let metrics: ServiceMetrics
    let watch: DatabaseWatch
    let logger: Logger

    func run() async throws {
        await withTaskCancellationHandler {
            try? await gracefulShutdown()
        } onCancel: {
            // The shutdown timeout is over. The requests in progress are counted now, because the service is about to
            // abort them.
            let requests = metrics.requestsInFlight
            guard requests > 0 else { return }
            logger.warning(
                "requests that didn't complete within the shutdown timeout were aborted",
                metadata: ["requests": .stringConvertible(requests)])
        }
        // A separate task closes the database, because this task is canceled after the shutdown timeout.
        let closing = Task { [store, watch] in
            await watch.check()
            try await store.close()
        }
        try await closing.value
    }
}
