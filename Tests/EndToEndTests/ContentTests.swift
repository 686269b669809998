import CommandRunner
import Crypto
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built command publishes and serves. Common tools download by link.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `published content, served by the built command` {
    private let testBed: PublishingTestBed
    private var folder: Folder { testBed.folder }
    private var published: String { folder.url("published").path }

    private static let fileName = "Groß & klein/Flügel ö 1.wav"
    private static let size = 24_000_000

    init() async throws {
        testBed = try await PublishingTestBed()
        try FileManager.default.createDirectory(
            at: folder.url("Klänge/Groß & klein"), withIntermediateDirectories: true)
        var state: UInt64 = 1
        var bytes = Data(capacity: Self.size)
        while bytes.count < Self.size {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state.bigEndian) { bytes.append(contentsOf: $0) }
        }
        try bytes.write(to: folder.url("Klänge/" + Self.fileName))
        try folder.write(
            "app: com.example.calculator\npacks: { grand-piano: { entitlement: everything, files: Klänge/ } }",
            to: "content.yaml")
        let key = folder.url("policy-key.pem").path
        try #require(try await Command.run("policy", "signing-key", key).status == 0)
        let result = try await Command.run(
            "content", "publish", folder.url("content.yaml").path, "--key", key, "--to", published)
        try #require(result.status == 0, "\(result.errors)")
    }

    /// A customer's access token, and links to the archive and the manifest of a pack.
    private struct Links {
        let accessToken: String
        let archive: String
        let manifest: String
    }

    private func links(on port: Int, customer: String = "704000000000000001") async throws -> Links {
        let synced = try await testBed.sync(try await testBed.appTransaction(of: customer, version: "37"), to: port)
        let token = try #require((synced.json["accessToken"] as? [String: Any])?["value"] as? String)
        let content = try await testBed.send("GET", "/v1/content", to: port, token: token)
        #expect(content.status == 200, "\(content.json)")
        let pack = try #require((content.json["packs"] as? [String: Any])?["grand-piano"] as? [String: Any])
        return Links(
            accessToken: token, archive: try #require(pack["archive"] as? String),
            manifest: try #require(pack["manifest"] as? String))
    }

    private static func digest(in link: String) -> String {
        String(link.split(separator: "/").last?.prefix { $0 != "?" } ?? "")
    }

    /// Expects that a downloaded file has the hash in its link.
    private func expect(
        _ file: String, isAt link: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let hash = SHA256.hash(data: try Data(contentsOf: folder.url(file)))
        #expect(
            hash.map { String(format: "%02x", $0) }.joined() == Self.digest(in: link), "\(file)",
            sourceLocation: sourceLocation)
    }

    private func run(_ tool: String, _ arguments: String...) throws -> Command.Result {
        try Tool.run("/usr/bin/env", [tool] + arguments)
    }

    // MARK: Downloads

    @Test func `curl, wget, aria2c and tar download, resume and unpack content, and no log contains a link`()
        async throws
    {
        let (service, port) = try await testBed.start(["--content-folder", published, "--log-level", "trace"])
        let links = try await links(on: port)
        let url = "http://127.0.0.1:\(port)\(links.archive)"
        let path = { (name: String) in folder.url(name).path }
        let whole = try Data(contentsOf: URL(fileURLWithPath: "\(published)/\(Self.digest(in: links.archive))"))
        for name in ["curl.tar", "wget.tar"] { try whole.prefix(9_876_543).write(to: folder.url(name)) }
        let results = [
            ("curl.tar", try run("curl", "-sSf", "-C", "-", "-o", path("curl.tar"), url)),
            ("wget.tar", try run("wget", "-nv", "-c", "-O", path("wget.tar"), url)),
            (
                "aria2.tar",
                try run("aria2c", "-x4", "-s4", "-k1M", "-q", "--no-conf", "-d", folder.path, "-o", "aria2.tar", url)
            ),
        ]
        for (file, result) in results {
            #expect(result.status == 0, "\(file): \(result.output)\(result.errors)")
            try expect(file, isAt: links.archive)
        }
        try FileManager.default.createDirectory(at: folder.url("unpacked"), withIntermediateDirectories: true)
        #expect(try run("tar", "-xf", path("curl.tar"), "-C", path("unpacked")).status == 0)
        #expect(
            try Data(contentsOf: folder.url("unpacked/" + Self.fileName))
                == Data(contentsOf: folder.url("Klänge/" + Self.fileName)))
        let metrics = try run("curl", "-sSf", "http://127.0.0.1:\(port)/metrics").output
        // Links that the service refuses must not be logged either.
        _ = try run("curl", "-sS", url + "A", "\(url)&token=x", String(url.dropLast()))
        _ = try run("curl", "-sS", "-H", "Range: bytes=99999999999-", "-o", path("none"), url)
        #expect(await service.end(by: SIGTERM) == 0)
        let log = service.output + service.errors
        #expect(log.contains("/v1/content/{digest}") && log.contains("trace"))
        for link in [links.archive, links.manifest] {
            let token = link.split(separator: "=").last ?? ""
            for text in [log, metrics] {
                #expect(!text.contains(token.prefix(30)) && !text.contains(Self.digest(in: link)))
            }
        }
        #expect(!log.contains(links.accessToken) && !metrics.contains(links.accessToken))
    }

    @Test func `a download of published content resumes with the same link after the service was killed`() async throws
    {
        let (service, port) = try await testBed.start(["--content-folder", published])
        let links = try await links(on: port)
        let url = "http://127.0.0.1:\(port)\(links.archive)"
        let part = folder.url("part.tar").path
        let download = ["curl", "-sSf", "--limit-rate", "4M", "-C", "-", "-o", part, url]
        let first = try RunningCommand(download, executable: URL(fileURLWithPath: "/usr/bin/env"))
        func size() -> Int { (try? FileManager.default.attributesOfItem(atPath: part)[.size] as? Int) ?? 0 }
        for _ in 0..<500 where size() < 3_000_000 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(await service.end(by: SIGKILL) != 0)
        #expect(await first.ended() != 0)
        let received = size()
        #expect(received >= 3_000_000 && received < Self.size)
        let (again, samePort) = try await testBed.start(["--content-folder", published, "--port", "\(port)"])
        #expect(samePort == port)
        let second = try run("curl", "-sSf", "-C", "-", "-o", part, url)
        #expect(second.status == 0, "\(second.errors)")
        try expect("part.tar", isAt: links.archive)
        let metrics = try run("curl", "-sSf", "http://127.0.0.1:\(port)/metrics").output
        let archive = try FileManager.default.attributesOfItem(
            atPath: "\(published)/\(Self.digest(in: links.archive))")
        let rest = try #require(archive[.size] as? Int) - received
        #expect(
            metrics.contains("tenure_download_bytes_total \(rest)\n"),
            "the resumed download sends only the missing bytes")
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `after SIGHUP, links to published content in an S3 bucket are signed with the new secrets`() async throws
    {
        let secret = try folder.writeSecret("first-secret", to: "s3-secret")
        let session = try folder.writeSecret("old-session", to: "s3-session")
        let (service, port) = try await testBed.start([
            "--content-folder", published, "--content-s3-region", "eu-west-2", "--content-s3-bucket", "published",
            "--content-s3-access-key-id", "AKIDEXAMPLE", "--content-s3-secret-access-key-file", secret,
            "--content-s3-session-token-file", session, "--content-s3-endpoint", "http://127.0.0.1:9",
        ])
        func sessionInLink() async throws -> String? {
            let link = try #require(URLComponents(string: try await links(on: port).archive))
            #expect(link.queryItems?.first { $0.name == "X-Amz-Signature" }?.value?.count == 64)
            #expect(link.queryItems?.first { $0.name == "X-Amz-Expires" }?.value == "86400")
            return link.queryItems?.first { $0.name == "X-Amz-Security-Token" }?.value
        }
        #expect(try await sessionInLink() == "old-session")
        try folder.writeSecret("second-secret", to: "s3-secret")
        try folder.writeSecret("new-session", to: "s3-session")
        #expect(try await sessionInLink() == "old-session")
        service.signal(SIGHUP)
        #expect(try await service.says("reloaded the secrets of the bucket"), "\(service.errors)")
        #expect(try await sessionInLink() == "new-session")
        try folder.writeSecret("", to: "s3-session")
        service.signal(SIGHUP)
        #expect(try await service.says("the new secrets of the bucket are invalid"))
        #expect(try await sessionInLink() == "new-session")
        #expect(await service.end(by: SIGTERM) == 0)
        let log = service.output + service.errors
        #expect(!log.contains("SIGHUP has no effect"), "\(log)")
        for secret in ["first-secret", "second-secret", "old-session", "new-session", "X-Amz"] {
            #expect(!log.contains(secret))
        }
    }
}
