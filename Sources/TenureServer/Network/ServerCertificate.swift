import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTLS
import Logging
import NIOSSL
import ServiceLifecycle
import TenureCore
import UnixSignals

/// The TLS certificate of the service. When its files are reloaded, new connections use the new certificate.
final class ServerCertificate: Sendable {
    private let current: Locked<CertificateFiles.Contents>
    private let files: CertificateFiles
    private let now: @Sendable () -> Date

    /// Reads the files. Throws `certificateFile` if they are invalid.
    init(_ files: CertificateFiles, now: @escaping @Sendable () -> Date) throws(ServiceError) {
        self.files = files
        self.now = now
        current = Locked(try files.contents(now: now()))
    }

    private var contents: CertificateFiles.Contents { current.withLock { $0 } }

    /// The date at which the certificate in use expires.
    var expiry: Date? { contents.chain.first?.expiry }

    /// Reloads the files for new connections. If they are invalid, the previous certificate stays in use.
    func reload() throws(ServiceError) {
        let fresh = try files.contents(now: now())
        current.withLock { $0 = fresh }
    }

    /// The TLS settings of the server. For each new connection, they use the certificate of that moment.
    var configuration: TLSConfiguration {
        var configuration = contents.configuration
        configuration.sslContextCallback = { [self] _, promise in
            var override = NIOSSLContextConfigurationOverride()
            let contents = contents
            override.certificateChain = contents.chain.map { .certificate($0) }
            override.privateKey = .privateKey(contents.key)
            promise.succeed(override)
        }
        return configuration
    }
}

/// Reloads the certificate on SIGHUP, until the service ends. Without a certificate, the signal has no effect. At a
/// terminal, the signal then ends the process, because the terminal was closed.
struct CertificateReloading: Service {
    let certificate: ServerCertificate?
    let metrics: ServiceMetrics
    let logger: Logger
    /// Whether SIGHUP also reloads the secrets of a bucket, so that the signal has an effect without a certificate.
    let alsoReloadsBucket: Bool

    /// Ignores SIGHUP until this service runs, because by default the signal ends the process. At a terminal, the
    /// signal isn't ignored.
    static func ignoreSignalUntilRunning() {
        if !hasTerminal { signal(SIGHUP, SIG_IGN) }
    }

    /// Whether a person started the process at a terminal.
    static let hasTerminal = isatty(STDIN_FILENO) == 1

    func run() async throws {
        report()
        if certificate == nil, Self.hasTerminal { return try await gracefulShutdown() }
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            guard let certificate else {
                if !alsoReloadsBucket {
                    logger.info("SIGHUP has no effect, because no TLS certificate and no bucket is configured")
                }
                continue
            }
            do throws(ServiceError) {
                try certificate.reload()
                report()
                logger.info("reloaded the TLS certificate")
            } catch {
                logger.error(
                    "the new TLS certificate is invalid; the previous one stays in use",
                    metadata: ["detail": "\(error.description)"])
            }
        }
    }

    private func report() {
        if let end = certificate?.expiry { metrics.usesCertificate(until: end) }
    }
}
