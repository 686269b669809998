import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration of several apps on SIGHUP, until the service ends.
struct AppsReloading: Service {
    let apps: RunningApps
    let logger: Logger

    func run() async throws {
        apps.certificate?.report(to: apps.sharedMetrics)
        // At a terminal, SIGHUP means that the terminal was closed. So the signal ends the process as usual, unless
        // there is a certificate to reload.
        if apps.certificate == nil, SecretReloading.hasTerminal { return try await gracefulShutdown() }
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                let reload = try await apps.reload()
                for warning in reload.warnings { logger.warning("\(warning)") }
            } catch let refusal as RunningApps.ReloadRefusal {
                for mistake in refusal.mistakes { logger.error("the configuration is invalid: \(mistake)") }
                logger.error("the reloaded configuration has mistakes; no app changed")
            } catch {
                // The service is ending.
                return
            }
        }
    }
}
