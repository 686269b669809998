import AsyncHTTPClient
import CommandRunner
import Foundation
import Hummingbird
import LocalAppStore
import NIOCore
import NIOSSL
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import TenureServer

@Suite struct TLS {
    /// Writes a certificate and its key to files.
    private func files(_ folder: String, named name: String = "one") throws -> CertificateFiles {
        let chain = try TestAuthority(receiptsOf: Calculator.authority).jws
        let files = CertificateFiles(certificate: folder + "/\(name).pem", key: folder + "/\(name).key")
        let both = [chain.leaf, chain.intermediate].map { pem($0.der) }.joined()
        // The certificate's file also contains the key.
        try writeSecret(both, to: files.certificate)
        try writeSecret(chain.leaf.key.pem, to: files.key)
        try Data(pem(chain.root.der).utf8).write(to: URL(fileURLWithPath: Self.root(of: files)))
        return files
    }

    /// The path of the root certificate, for clients.
    private static func root(of files: CertificateFiles) -> String { files.certificate + ".root" }

    private func pem(_ der: [UInt8]) -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    /// Returns the status and the body of a response, separated by a newline. The client trusts only one root.
    private func response(
        port: Int, trusting root: String, to newest: TLSVersion? = nil, suite: NIOTLSCipher? = nil,
        path: String = "/health/live"
    ) async throws -> String {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let suite { tls.cipherSuiteValues = [suite] }
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(root))
        tls.certificateVerification = .noHostnameVerification
        tls.maximumTLSVersion = newest
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.timeout.connect = .seconds(20)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<String, any Error>
        do {
            let request = HTTPClientRequest(url: "https://127.0.0.1:\(port)\(path)")
            let response = try await client.execute(request, timeout: .seconds(20))
            let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
            result = .success("\(response.status)\n\(body)")
        } catch {
            result = .failure(error)
        }
        try await client.shutdown()
        return try result.get()
    }

    /// Starts `tenure serve` in a folder.
    private func start(in folder: Folder, _ files: CertificateFiles, _ options: String...) throws -> RunningCommand {
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { everything: { products: [com.example.calculator.everything] } }
            """, to: "policy.yaml")
        return try RunningCommand(
            [
                "serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--port", "0",
                "--tls-certificate", files.certificate, "--tls-key", files.key,
            ] + options)
    }

    @Test func `a service with TLS files accepts TLS 1.2 and later, and no plain HTTP`() async throws {
        try await withFolder { folder in
            let files = try files(folder)
            try await withTLSService(folder, files) { port in
                #expect(try await response(port: port, trusting: Self.root(of: files)).hasPrefix("200"))
                #expect(try await response(port: port, trusting: Self.root(of: files), to: .tlsv12).hasPrefix("200"))
                await #expect(throws: (any Error).self) {
                    try await response(port: port, trusting: Self.root(of: files), to: .tlsv11)
                }
                let plain = try RawConnection(port: port)
                plain.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = try #require(await plain.received())
                #expect(!answer.contains("200 OK"))
            }
        }
    }

    @Test func `the service accepts TLS 1.2 only with ECDHE and AEAD cipher suites`() async throws {
        try await withFolder { folder in
            let files = try files(folder)
            try await withTLSService(folder, files) { port in
                // These are the suites for a certificate with an ECDSA key.
                for suite in [
                    NIOTLSCipher.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
                    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
                ] {
                    let answer = try await response(
                        port: port, trusting: Self.root(of: files), to: .tlsv12, suite: suite)
                    #expect(answer.hasPrefix("200"), "\(suite)")
                }
                for suite in [
                    NIOTLSCipher.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
                ] {
                    await #expect(throws: (any Error).self, "\(suite)") {
                        try await response(port: port, trusting: Self.root(of: files), to: .tlsv12, suite: suite)
                    }
                }
            }
        }
    }

    @Test func `a service reloads its TLS files on SIGHUP, and keeps its certificate if the new files are invalid`()
        async throws
    {
        let folder = try Folder()
        let (files, other) = (try files(folder.path), try files(folder.path, named: "two"))
        func put(_ source: String, at target: String) throws {
            try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: target))
        }
        let service = try start(in: folder, files, "--log-format", "json")
        let port = try #require(try await service.port(), "\(service.errors)")
        #expect(try await response(port: port, trusting: Self.root(of: files)).hasPrefix("200"))
        // An alert on this metric reminds the operator before the certificate expires.
        let metrics = try await response(port: port, trusting: Self.root(of: files), path: "/metrics")
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("tenure_certificate_expires_seconds ") }
        let expiry = try #require(try files.contents(now: Date()).chain.first?.expiry)
        #expect(line?.split(separator: " ").last.flatMap { Double($0) } == expiry.timeIntervalSince1970, "\(metrics)")

        try put(other.certificate, at: files.certificate)
        service.signal(SIGHUP)
        #expect(try await service.says("the new TLS certificate is invalid"))
        #expect(try await response(port: port, trusting: Self.root(of: files)).hasPrefix("200"))

        // At a reload, too, a key that others can read is rejected.
        try put(other.key, at: files.key)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: files.key)
        service.signal(SIGHUP)
        #expect(try await service.says("chmod 600"))
        #expect(try await response(port: port, trusting: Self.root(of: files)).hasPrefix("200"))

        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: files.key)
        service.signal(SIGHUP)
        #expect(try await service.says("reloaded the TLS certificate"))
        #expect(try await response(port: port, trusting: Self.root(of: other)).hasPrefix("200"))
        await #expect(throws: (any Error).self) { try await response(port: port, trusting: Self.root(of: files)) }
        service.signal(SIGTERM)
        #expect(await service.ended() == 0)
    }

    @Test func `SIGHUP renews the TLS certificate even if the changed configuration of the apps is refused`()
        async throws
    {
        let folder = try Folder()
        let (files, other) = (try files(folder.path), try files(folder.path, named: "two"))
        try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { everything: { products: [com.example.calculator.everything] } }
            """, to: "policy.yaml")
        func configuration(_ database: String) -> String {
            """
            port: 0
            tls: { certificate: \(files.certificate), key: \(files.key) }
            apps: { calculator: { policy: policy.yaml, database: \(database) } }
            """
        }
        let path = try folder.write(configuration("tenure.sqlite"), to: "tenure.yaml")
        let service = try RunningCommand(["serve", "--config", path])
        let port = try #require(try await service.port(), "\(service.errors)")
        #expect(try await response(port: port, trusting: Self.root(of: files)).hasPrefix("200"))
        for (source, target) in [(other.certificate, files.certificate), (other.key, files.key)] {
            try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: target))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: files.key)
        // This change requires a restart.
        try folder.write(configuration("other.sqlite"), to: "tenure.yaml")
        service.signal(SIGHUP)
        #expect(try await service.says("no app changed"), "\(service.errors)")
        #expect(try await response(port: port, trusting: Self.root(of: other)).hasPrefix("200"))
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `an unusable TLS certificate or key is an error that says what is wrong`() throws {
        let folder = try Folder()
        let sound = try files(folder.path)
        let other = try files(folder.path, named: "two")
        _ = try sound.contents(now: Date())
        func fault(_ files: CertificateFiles, now: Date = Date()) -> String {
            let error = #expect(throws: ServiceError.self) { try files.contents(now: now) }
            return error?.description ?? ""
        }
        #expect(fault(.init(certificate: "/no/such.pem", key: sound.key)).contains("`/no/such.pem`"))
        #expect(fault(.init(certificate: sound.certificate, key: "/no/such.key")).contains("`/no/such.key`"))
        #expect(fault(.init(certificate: sound.key, key: sound.key)).contains("has no certificate"))
        #expect(fault(.init(certificate: sound.certificate, key: sound.certificate)).contains("has no private key"))
        #expect(fault(.init(certificate: sound.certificate, key: other.key)).contains("the key isn't that of"))
        #expect(fault(.init(certificate: folder.path, key: sound.key)).contains("can't be read"))
        let large = try folder.write(String(repeating: "\n", count: (1 << 20) + 1), to: "large.pem")
        #expect(fault(.init(certificate: large, key: sound.key)).contains("another kind of file"))
        #expect(fault(sound, now: .distantFuture).contains("expired"))
    }

    @Test func `a service may listen beyond loopback with TLS and an admin key`() throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.host = "0.0.0.0"
        configuration.anchors = [.production: .apple]
        #expect(configuration.mistakes == [.noAdminKey(host: "0.0.0.0"), .noTransportSecurity(host: "0.0.0.0")])
        configuration.adminKey = AdminClient.adminKey
        configuration.certificateFiles = CertificateFiles(certificate: "a", key: "b")
        #expect(configuration.mistakes == [])
        #expect(configuration.findings.count == 1)
    }

    #if os(Linux)
        @Test func `connections closed at the limit of connections end even if clients ignore the end of TLS`()
            async throws
        {
            let folder = try Folder()
            let files = try files(folder.path)
            let service = try start(in: folder, files, "--limits-connections", "8")
            let port = try #require(try await service.port(), "\(service.errors)")
            let opened = "/proc/\(service.identifier)/fd"
            func sockets() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: opened).count { name in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(opened)/\(name)")
                    return target?.hasPrefix("socket:") == true
                }
            }
            let before = try sockets()
            var clients: [any Channel] = []
            for _ in 0..<40 {
                let request = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
                clients.append(try await DeafClient.connect(port: port, sending: request))
                // The service closes older connections before the response. Event loops may be a few connections
                // behind.
                #expect(try sockets() - before <= 12)
            }
            try await clients[0].closeFuture.get()
            for client in clients { client.close(promise: nil) }
            #expect(await service.end(by: SIGTERM) == 0)
        }
    #endif

    private func withTLSService(
        _ folder: String, _ files: CertificateFiles, _ body: @Sendable @escaping (Int) async throws -> Void
    ) async throws {
        var configuration = try Calculator.configuration(folder)
        configuration.certificateFiles = files
        configuration.now = { Date() }
        let settings = configuration
        try await withServer(
            { try await buildApplication(configuration: settings, logger: Calculator.logger, onServerRunning: $0) },
            body)
    }
}
