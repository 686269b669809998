import CommandRunner
import Crypto
import Foundation
import Testing

/// Searches all output for the secrets that protect downloads: the TLS key, the secrets of a bucket, and links.
@Suite(.timeLimit(.minutes(5))) struct `trace output of a service with TLS and an S3 bucket` {
    private let testBed: PublishingTestBed
    private var folder: Folder { testBed.folder }
    private let secret = "canary-s3-secret-" + UUID().uuidString
    private let sessionToken = "canary/s3+session=" + UUID().uuidString
    private let linkToken = "canary-link-" + UUID().uuidString

    init() async throws {
        testBed = try await PublishingTestBed()
        try folder.writeSecret(secret + "\n", to: "s3-secret")
        try folder.writeSecret(sessionToken + "\n", to: "s3-session")
        for name in ["jws-leaf.pem", "jws-leaf.key.pem"] {
            try folder.writeSecret(try folder.text("authority/" + name), to: name)
        }
        try FileManager.default.createDirectory(at: folder.url("levels"), withIntermediateDirectories: true)
        try folder.write("one", to: "levels/one.txt")
        try folder.write(
            "app: com.example.calculator\npacks: { levels: { entitlement: everything, files: levels/ } }",
            to: "content.yaml")
        let key = folder.url("policy-key.pem").path
        try #require(try await Command.run("policy", "signing-key", key).status == 0)
        let result = try await Command.run(
            "content", "publish", folder.url("content.yaml").path, "--key", key, "--to", folder.url("published").path)
        try #require(result.status == 0, "\(result.errors)")
    }

    private func path(_ name: String) -> String { folder.url(name).path }

    private var options: [String] {
        [
            "--log-level", "trace", "--tls-certificate", path("jws-leaf.pem"), "--tls-key", path("jws-leaf.key.pem"),
            "--content-folder", path("published"), "--content-s3-endpoint", "https://bucket.example.com",
            "--content-s3-region", "eu-central-1", "--content-s3-bucket", "packs", "--content-s3-access-key-id",
            "AKIAEXAMPLE", "--content-s3-secret-access-key-file", path("s3-secret"),
            "--content-s3-session-token-file", path("s3-session"),
        ]
    }

    private func canaries() throws -> [String: [UInt8]] {
        let pem = try folder.text("authority/jws-leaf.key.pem")
        let line = try #require(pem.split(separator: "\n").dropFirst().first)
        return [
            "secret of the bucket": Array(secret.utf8), "session token of the bucket": Array(sessionToken.utf8),
            "token of a link": Array(linkToken.utf8), "TLS key (PEM)": Array(line.utf8),
            "TLS key": try Array(P256.Signing.PrivateKey(pemRepresentation: pem).rawRepresentation),
        ]
    }

    /// Returns the body of the response.
    private func request(_ path: String, _ arguments: [String] = [], port: Int) throws -> String {
        try Tool.run("/usr/bin/env", ["curl", "-sSk", "https://127.0.0.1:\(port)\(path)"] + arguments).output
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test func `no trace output of a service with TLS and an S3 bucket shows a secret or a link`() async throws {
        let (service, port) = try await testBed.start(options)
        let artifact = try await testBed.appTransaction(of: "704000000000000001", version: "37")
        let body = try JSONSerialization.data(withJSONObject: [
            "appTransaction": artifact, "deviceVerificationID": PublishingTestBed.device,
        ])
        let synced = try json(
            try request(
                "/v1/sync", ["-H", "Content-Type: application/json", "-d", String(decoding: body, as: UTF8.self)],
                port: port))
        let token = try #require((synced["accessToken"] as? [String: Any])?["value"] as? String, "\(synced)")
        let content = try json(try request("/v1/content", ["-H", "Authorization: Bearer \(token)"], port: port))
        let pack = try #require((content["packs"] as? [String: Any])?["levels"] as? [String: Any], "\(content)")
        let link = try #require((pack["archive"] as? String).flatMap { URLComponents(string: $0) })
        let query = Dictionary(
            (link.queryItems ?? []).compactMap { item in item.value.map { (item.name, $0) } }
        ) { first, _ in first }
        #expect(query["X-Amz-Security-Token"] == sessionToken)
        let signature = try #require(query["X-Amz-Signature"])
        let digest = try #require(link.path.split(separator: "/").last)
        _ = try request("/v1/content/\(digest)?token=\(linkToken)", port: port)
        _ = try request("/v1/content/\(linkToken)?token=\(linkToken)&token=\(linkToken)", port: port)

        // The service reads the secrets again: first the same ones, then invalid ones.
        service.signal(SIGHUP)
        #expect(try await service.says("reloaded the secrets of the bucket"), "\(service.errors)")
        try folder.writeSecret("", to: "s3-session")
        try folder.writeSecret("no key: \(secret)", to: "jws-leaf.key.pem")
        service.signal(SIGHUP)
        #expect(try await service.says("the new secrets of the bucket are invalid"), "\(service.errors)")
        #expect(try await service.says("the new TLS certificate is invalid"), "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0)

        var canaries = try canaries()
        canaries["signature of a link"] = Array(signature.utf8)
        canaries["access token"] = Array(token.utf8)
        let log = service.output + service.errors
        #expect(log.contains("trace") && log.contains("/v1/content/{digest}"))
        Canaries.expect(log, without: canaries, "serve")
    }

    @Test
    func `if the service doesn't start because of a secret or its file, its trace log doesn't contain the secret`()
        async throws
    {
        let words = "no key: \(secret)"
        let pem = try folder.text("jws-leaf.key.pem")
        let damaged = pem.replacing("\n-----END", with: "!\n-----END")
        let files = [
            ("jws-leaf.key.pem", words, 0o600), ("jws-leaf.key.pem", damaged, 0o600),
            ("jws-leaf.key.pem", pem, 0o644), ("jws-leaf.pem", pem, 0o600), ("s3-secret", secret, 0o644),
            ("s3-secret", "", 0o600), ("s3-session", sessionToken, 0o666), ("s3-session", " \n", 0o600),
        ]
        let canaries = try canaries()
        for (name, text, mode) in files {
            let before = try folder.text(name)
            try folder.writeSecret(text, to: name)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
            let service = try testBed.launch(options)
            let status = await service.ended()
            #expect(status != 0, "\(name): \(service.output)\(service.errors)")
            #expect(service.errors.contains(name), "\(name) is to blame: \(service.errors)")
            Canaries.expect(service.output + service.errors, without: canaries, "serve with a broken \(name)")
            try folder.writeSecret(before, to: name)
        }
        // These options have a secret where the name of its file belongs.
        for (option, value) in [
            ("--tls-key", pem), ("--content-s3-secret-access-key-file", secret),
            ("--content-s3-session-token-file", sessionToken),
        ] {
            let service = try testBed.launch(options + [option, value])
            #expect(await service.ended() != 0)
            Canaries.expect(service.output + service.errors, without: canaries, "serve with \(option)")
        }
    }
}
