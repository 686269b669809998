import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the TLS certificate, and the secrets of the S3 bucket with the asset packs, on SIGHUP.
///
/// If neither is configured, the signal has no effect. But at a terminal it means that the terminal was closed, so
/// there it ends the process.
struct SecretReloading: Service {
    let certificate: ServerCertificate?
    let bucket: S3Links?
    let metrics: ServiceMetrics
    let logger: Logger

    /// Ignores SIGHUP until this service runs, because by default the signal ends the process. At a terminal, the
    /// signal isn't ignored.
    static func ignoreSignalUntilRunning() { if !hasTerminal { signal(SIGHUP, SIG_IGN) } }

    /// Whether a person started the process at a terminal.
    static let hasTerminal = isatty(STDIN_FILENO) == 1

    func run() async throws {
        certificate?.report(to: metrics)
        let hasEffect = certificate != nil || bucket != nil
        if !hasEffect, Self.hasTerminal { return try await gracefulShutdown() }
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            if !hasEffect {
                logger.info("SIGHUP has no effect, because neither a TLS certificate nor a bucket is configured")
            }
            certificate?.reload(metrics, logger)
            guard let bucket else { continue }
            do throws(ServiceError) {
                try bucket.reload()
                logger.info("reloaded the secrets of the bucket")
            } catch {
                logger.error(
                    "the new secrets of the bucket are invalid; the previous ones stay in use",
                    metadata: ["detail": "\(error.description)"])
            }
        }
    }
}
