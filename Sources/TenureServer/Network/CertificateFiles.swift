import Foundation
import NIOSSL
import TenureFiles

/// The paths of the certificate and the private key with which the service accepts TLS connections, in PEM.
public struct CertificateFiles: Sendable, Hashable {
    /// The path of the file with the certificate chain: the server's certificate first, then the intermediate
    /// certificates.
    public var certificate: String
    /// The path of the private key.
    public var key: String

    /// Creates the paths. The service reads the files when it starts, and again after SIGHUP.
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

    /// Reads both files and checks that they match. Throws `certificateFile`, with the path of the file to correct, if
    /// a file is invalid, the certificate has expired, or the key is for another certificate.
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

    /// Reads the file with the certificates. Unlike the file with the key, other users may read it.
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
