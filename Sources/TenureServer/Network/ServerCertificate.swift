import Foundation
import Logging
import NIOCore
import NIOSSL
import TenureCore
import TenureFiles

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
            let fresh = try files.contents(now: now())
            current.withLock { $0 = fresh }
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

/// The paths of the certificate and the private key with which the service accepts TLS connections, in PEM.
public struct CertificateFiles: Sendable, Hashable {
    /// The path of the file with the certificate chain: the server's certificate first, then the intermediate
    /// certificates.
    public var certificate: String
    /// The path of the private key.
    public var key: String

    /// Names the two files. The service reads them when it starts, and again after SIGHUP.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// The contents of the files, after checking that they match.
    struct Contents: Sendable {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey

        /// The TLS settings of a server with this certificate.
        var configuration: TLSConfiguration {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.allowModernTLSOnly()
            configuration.applicationProtocols = ["http/1.1"]
            return configuration
        }
    }

    /// Reads both files and checks that they match. If a file is invalid or the certificate has expired, throws
    /// `certificateFile` with the path of the file.
    func contents(now: Date) throws(ServiceError) -> Contents {
        let certificateBytes = try Self.bytes(of: certificate)
        let chain = (try? NIOSSLCertificate.fromPEMBytes(certificateBytes)) ?? []
        guard let server = chain.first else {
            throw Self.unusable(
                certificate, "the file has no certificate in PEM; set the path of the server's certificate")
        }
        guard now <= server.expiry else {
            throw Self.unusable(certificate, "the certificate has expired; replace the file with a new one")
        }
        let keyBytes: [UInt8]
        do throws(ServiceError) {
            keyBytes = try SecretFile(path: self.key).existingContents(upTo: Self.maximumSize)
        } catch {
            guard case .keyFile(_, let detail) = error else { throw error }
            throw Self.unusable(self.key, detail)
        }
        guard let key = try? NIOSSLPrivateKey(bytes: keyBytes, format: .pem) else {
            throw Self.unusable(
                self.key,
                "the file has no private key in PEM, or the key has a passphrase; use a key without a passphrase")
        }
        let contents = Contents(chain: chain, key: key)
        guard (try? NIOSSLContext(configuration: contents.configuration)) != nil else {
            throw Self.unusable(
                self.key,
                """
                the key isn't that of the first certificate in `\(certificate)`; use the key that the certificate was \
                issued for
                """)
        }
        return contents
    }

    private static func unusable(_ path: String, _ detail: String) -> ServiceError {
        .certificateFile(path: path, detail: detail)
    }

    /// The largest size of a file in bytes.
    private static let maximumSize = 1 << 20

    /// Reads the file with the certificates, which other users may read too.
    private static func bytes(of path: String) throws(ServiceError) -> [UInt8] {
        let contents: [UInt8]?
        do {
            contents = try WholeFile(path: path).read(maximumSize: maximumSize)
        } catch {
            throw unusable(path, "the file can't be read (\(error.reason)); check its owner and mode")
        }
        guard let contents else { throw unusable(path, "there is no such file; check the path") }
        guard contents.count <= maximumSize else {
            throw unusable(
                path, "the file has more than \(maximumSize) bytes, so it is another kind of file; check the path")
        }
        return contents
    }
}

extension NIOSSLCertificate {
    /// The date at which the certificate expires.
    var expiry: Date { Date(timeIntervalSince1970: TimeInterval(notValidAfter)) }
}

extension TLSConfiguration {
    /// Allows TLS 1.3, and 1.2 only with ECDHE and AEAD, so that a stolen key can't decrypt recorded traffic (RFC 9325,
    /// section 4.2). RFC 8996 deprecates everything older.
    mutating func allowModernTLSOnly() {
        minimumTLSVersion = .tlsv12
        cipherSuiteValues = Self.modernSuites
    }

    /// The allowed cipher suites of TLS 1.2, all with ECDHE and AEAD. The suites of TLS 1.3 can't be chosen, and all
    /// have both properties.
    private static let modernSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]
}
