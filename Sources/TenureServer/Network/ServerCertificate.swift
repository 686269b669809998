import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTLS
import Logging
import NIOSSL
import ServiceLifecycle
import UnixSignals

/// The certificate with which new connections are greeted. SIGHUP reads its files again.
final class ServerCertificate: @unchecked Sendable {
    // Sound: the only mutable state is `current`, and every use of it stands between `lock.lock()` and
    // `lock.unlock()`.
    private let lock = NSLock()
    private var current: CertificateFiles.Contents
    private let files: CertificateFiles
    private let now: @Sendable () -> Date

    /// Throws `certificateFile`.
    init(_ files: CertificateFiles, now: @escaping @Sendable () -> Date) throws(ServiceError) {
        self.files = files
        self.now = now
        current = try files.contents(now: now())
    }

    private var contents: CertificateFiles.Contents {
        lock.lock()
        defer { lock.unlock() }
        return current
    }

    /// What stands in the files now holds for new connections. Where it does not serve, what held goes on.
    func reload() throws(ServiceError) {
        let fresh = try files.contents(now: now())
        lock.lock()
        defer { lock.unlock() }
        current = fresh
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

/// Reads the certificate again on SIGHUP, until the service ends. Where there is none, the signal that would read it
/// again does nothing, and ends no service either.
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
