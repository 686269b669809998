import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration of several apps on SIGHUP, until the service ends.
struct AppsReloading: Service {
    let apps: RunningApps
    let logger: Logger

    func run() async throws {
        apps.reportCertificate()
        // At a terminal, SIGHUP means that the terminal was closed, so it ends the process as usual.
        if apps.certificate == nil, CertificateReloading.hasTerminal { return try await gracefulShutdown() }
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
