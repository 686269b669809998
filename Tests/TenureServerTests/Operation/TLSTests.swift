import AsyncHTTPClient
import CommandRunner
import Foundation
import Hummingbird
import NIOCore
import NIOSSL
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import TenureServer

@Suite struct TLS {
    /// A certificate and its key, as files.
    private func files(_ folder: String, seed: String = "one") throws -> CertificateFiles {
        let issued = try TestAuthority(seed: seed, receiptsOf: Calculator.authority).xcodeJWS
        let files = CertificateFiles(certificate: folder + "/\(seed).pem", key: folder + "/\(seed).key")
        let base64 = Data(issued.der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let pem = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        try Data(pem.utf8).write(to: URL(fileURLWithPath: files.certificate))
        try Data(issued.key.pem.utf8).write(to: URL(fileURLWithPath: files.key))
        return files
    }

    /// A client that trusts one certificate and no other.
    private func status(port: Int, trusting certificate: String, to newest: TLSVersion? = nil) async throws -> String {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate))
        tls.certificateVerification = .noHostnameVerification
        tls.maximumTLSVersion = newest
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.timeout.connect = .seconds(20)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<String, any Error>
        do {
            let request = HTTPClientRequest(url: "https://127.0.0.1:\(port)/health/live")
            result = .success("\(try await client.execute(request, timeout: .seconds(20)).status)")
        } catch {
            result = .failure(error)
        }
        try await client.shutdown()
        return try result.get()
    }

    @Test func `by certificate files serves, from 1.2 on, and nothing plain`() async throws {
        try await withFolder { folder in
            let files = try files(folder)
            try await withServer(folder, files) { port in
                #expect(try await status(port: port, trusting: files.certificate).hasPrefix("200"))
                #expect(try await status(port: port, trusting: files.certificate, to: .tlsv12).hasPrefix("200"))
                await #expect(throws: (any Error).self) {
                    try await status(port: port, trusting: files.certificate, to: .tlsv11)
                }
                let plain = try RawConnection(port: port)
                plain.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let answer = try #require(await plain.received())
                #expect(!answer.contains("200 OK"))
            }
        }
    }

    @Test func `takes new files for new connections, and keeps the old ones where the new do not serve`() async throws {
        try await withFolder { folder in
            let files = try files(folder)
            let (certificate, key) = (files.certificate, files.key)
            let served = try ServerCertificate(files) { Date() }
            let old = try String(contentsOfFile: certificate, encoding: .utf8)
            let other = try self.files(folder, seed: "two")
            func put(_ source: String, at target: String) throws {
                try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: target))
            }
            try put(other.certificate, at: certificate)
            #expect(throws: ServiceError.self) { try served.reload() }
            try put(other.key, at: key)
            try served.reload()
            let text = try String(contentsOfFile: certificate, encoding: .utf8)
            #expect(text != old)
        }
    }

    @Test func `that cannot serve is refused with the file that is at fault`() throws {
        let folder = try Folder()
        let sound = try files(folder.path)
        let other = try files(folder.path, seed: "two")
        _ = try sound.contents(now: Date())
        func fault(_ files: CertificateFiles, now: Date = Date()) -> String {
            let error = #expect(throws: ServiceError.self) { try files.contents(now: now) }
            return error?.description ?? ""
        }
        #expect(fault(.init(certificate: "/no/such.pem", key: sound.key)).contains("`/no/such.pem`"))
        #expect(fault(.init(certificate: sound.certificate, key: "/no/such.key")).contains("`/no/such.key`"))
        #expect(fault(.init(certificate: sound.key, key: sound.key)).contains("holds no certificate"))
        #expect(fault(.init(certificate: sound.certificate, key: sound.certificate)).contains("holds no private key"))
        #expect(fault(.init(certificate: sound.certificate, key: other.key)).contains("it is not the key"))
        #expect(fault(.init(certificate: folder.path, key: sound.key)).contains("cannot be read"))
        #expect(fault(sound, now: .distantFuture).contains("expired"))
    }

    @Test func `suffices beyond loopback, with an admin key`() throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.host = "0.0.0.0"
        configuration.anchors = [.production: .apple]
        #expect(configuration.mistakes == [.noAdminKey(host: "0.0.0.0"), .noTransportSecurity(host: "0.0.0.0")])
        configuration.adminKey = String(repeating: "k", count: 32)
        configuration.certificateFiles = CertificateFiles(certificate: "a", key: "b")
        #expect(configuration.mistakes == [])
        #expect(configuration.findings.count == 1)
    }

    private func withServer(
        _ folder: String, _ files: CertificateFiles, _ body: @Sendable @escaping (Int) async throws -> Void
    ) async throws {
        var configuration = try Calculator.configuration(folder)
        configuration.certificateFiles = files
        configuration.now = { Date() }
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let running = configuration
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { started.finish() }
                let application = try await buildApplication(configuration: running, logger: Calculator.logger) {
                    started.yield($0)
                }
                try await application.run()
            }
            for await port in ports {
                do {
                    try await body(port)
                } catch {
                    group.cancelAll()
                    throw error
                }
                group.cancelAll()
            }
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }
}
