import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTLS
import Logging
import NIOSSL
import ServiceLifecycle
import TenureCore
import UnixSignals

/// The certificate with which new connections are greeted. SIGHUP reads its files again.
final class ServerCertificate: Sendable {
    private let current: Locked<CertificateFiles.Contents>
    private let files: CertificateFiles
    private let now: @Sendable () -> Date

    /// Throws `certificateFile`.
    init(_ files: CertificateFiles, now: @escaping @Sendable () -> Date) throws(ServiceError) {
        self.files = files
        self.now = now
        current = Locked(try files.contents(now: now()))
    }

    private var contents: CertificateFiles.Contents { current.withLock { $0 } }

    /// When the certificate in use expires.
    var expiry: Date? { contents.chain.first?.expiry }

    /// Reads the files again for new connections. If they are invalid, the earlier certificate stays in use.
    func reload() throws(ServiceError) {
        let fresh = try files.contents(now: now())
        current.withLock { $0 = fresh }
    }

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

/// Reads the certificate again on SIGHUP, until the service ends. Without a certificate, the signal has no effect, and
/// doesn't stop the service.
struct CertificateReloading: Service {
    let certificate: ServerCertificate?
    let logger: Logger

    /// Until it runs, the signal is not to end the process, which is what it does by itself. Where somebody sits at a
    /// terminal it says that they closed it.
    static func beginIgnoring() {
        if !hasTerminal { signal(SIGHUP, SIG_IGN) }
    }

    private static let hasTerminal = isatty(STDIN_FILENO) == 1

    func run() async throws {
        if certificate == nil, Self.hasTerminal { return try await gracefulShutdown() }
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            guard let certificate else {
                logger.info("there is no certificate to be read again")
                continue
            }
            do throws(ServiceError) {
                try certificate.reload()
                logger.info("the certificate was read again")
            } catch {
                logger.error("the certificate was not replaced", metadata: ["detail": "\(error.description)"])
            }
        }
    }
}
