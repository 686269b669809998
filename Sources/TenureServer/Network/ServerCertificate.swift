import Foundation
import Logging
import NIOCore
import NIOSSL
import TenureCore

/// The TLS certificate of the service. After a reload of its files, new connections use the new certificate.
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

    /// Stores in the metrics when the certificate in use expires.
    func report(to metrics: ServiceMetrics) {
        if let end = contents.chain.first?.expiry { metrics.setCertificateEnd(end) }
    }

    /// Reloads the files for new connections, and logs the result. If the files are invalid, the previous certificate
    /// stays in use.
    func reload(_ metrics: ServiceMetrics, _ logger: Logger) {
        do throws(ServiceError) {
            let newContents = try files.contents(now: now())
            current.withLock { $0 = newContents }
            report(to: metrics)
            logger.info("reloaded the TLS certificate")
        } catch {
            logger.error(
                "the new TLS certificate is invalid; the previous one stays in use",
                metadata: ["detail": "\(error.description)"])
        }
    }

    /// The TLS settings of the server. Each new connection uses the certificate that was loaded last.
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
