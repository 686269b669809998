import Logging
import ServiceLifecycle
import TenureContent

/// Logs each new catalog, and each reason why the catalog in the folder isn't used.
struct ContentWatch: Service {
    let folder: ContentFolder
    let logger: Logger

    private static let interval = Swift.Duration.seconds(1)

    func run() async throws {
        var loggedFailure: ServiceError?
        var loggedCounter: Int64?
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let (catalog, failure) = (folder.catalog, folder.failure)
            if failure != loggedFailure {
                loggedFailure = failure
                let consequence = catalog == nil ? "nothing can be downloaded" : "the previous catalog stays in use"
                if let failure { logger.error("\(failure); \(consequence)") }
            }
            if let catalog, catalog.counter != loggedCounter {
                loggedCounter = catalog.counter
                logger.info("loaded the content catalog", metadata: ["counter": "\(catalog.counter)"])
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }
}
