import CommandRunner
import Foundation
import Testing

/// What `tenure serve --check` prints about each setting, and which settings have no effect.
@Suite struct `the summary of serve --check` {
    private let folder: Folder
    private let policy: String

    init() throws {
        folder = try Folder()
        policy = try folder.write(Self.policy(), to: "policy.yaml")
    }

    /// A policy about which the policy check has no warning, unless the changeover is longer.
    private static func policy(of bundleID: String = "com.example.calculator", until end: String = "+48h") -> String {
        """
        app: { bundleID: \(bundleID), appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins:
              iOS: { build: "120", at: 2015-06-10T18:00:00Z }
              macOS: { version: "2.0", at: 2015-06-12T18:00:00Z }
            changeover: { from: -24h, until: \(end) }
        buildNumbers: increasing
        entitlements:
          everything:
            products: [com.example.calculator.everything, com.example.calculator.yearly]
            honors: [paid]
        """
    }

    private func check(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Command.Result {
        // The variables of `make soak` aren't settings of the service.
        let names = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TENURE_") }
        return try await Command.run(["serve", "--check"] + arguments, environment: environment, removing: names)
    }

    private func lines(_ result: Command.Result) -> [String] { result.output.split(separator: "\n").map(String.init) }

    @Test func `serve --check prints the defaults`() async throws {
        let database = folder.url("new.sqlite").path
        let result = try await check(["--policy", policy, "--database", database])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let expected = [
            "would serve com.example.calculator on http://127.0.0.1:8080", "  policy: 2 eras, 1 entitlement",
            "  database: \(database) (would be created)",
            "  signing key: would be created; a database with customers needs the one that their apps trust",
            "  environments: Production, Sandbox", "  trusted in addition to Apple: none", "  webhooks: none",
            "  content: none", "  TLS: none, loopback only", "  proxies: none", "  admin key: none",
            "  metrics: guarded", "  requests from one address: 5000 a second, 50000 at once",
            "  requests with one token: 1000 a second, 10000 at once",
            "  timeouts: head 10 s, response 60 s, idle 75 s, shutdown 30 s", "  clock: the system's",
            "  connections: at most 16384, 256 from one address",
            "  bodies: at most 4194304 bytes, at least 500 bytes per second over 10 seconds",
        ]
        #expect(lines(result) == expected)

        let authority = folder.url("authority").path
        try #require(try await Command.run("mint", "authority", authority).status == 0)
        let clock = try folder.write("2026-11-20T12:00:00Z\n", to: "clock")
        let test = try await check([
            "--policy", policy, "--database", database, "--port", "0", "--environment", "sandbox", "--trust", authority,
            "--clock", clock,
        ])
        #expect(test.status == 0, "\(test.errors)")
        #expect(lines(test).first == "would serve com.example.calculator on any free port of 127.0.0.1")
        #expect(lines(test).contains("  environments: Sandbox"))
        #expect(lines(test).contains("  clock: \(clock), 2026-11-20T12:00:00Z"))

        let url = "postgres://tenure:pa55@127.0.0.1:1/none"
        let server = try await check(["--policy", policy, "--database", url, "--keys", folder.path])
        #expect(server.status == 0 && server.errors.hasPrefix("warning: the database server can't be checked: "))
        #expect(lines(server).contains("  database: a database server (connection not tested)"))
        #expect(!(server.output + server.errors).contains("pa55"))
    }

    @Test(arguments: [
        ("postgres://ada:pa55@127.0.0.1:1/db?connections=x", "`connections=x` isn't a number from 1 to 500"),
        ("postgres://ada:pa55@[::1/db", "the URL is invalid"),
        ("postgres://ada:pa55@127.0.0.1:1/db?bogus=1", "the URL is invalid"),
        ("postgres://ada:pa55@x@127.0.0.1:1/db", "the URL is invalid"),
        ("postgres://ada:pa55/x@127.0.0.1:1/db", "the URL is invalid"),
    ])
    func `serve --check reports a PostgreSQL URL that the service refuses, with the other mistakes`(
        url: String, mistake: String
    ) async throws {
        let result = try await check([
            "--policy", policy, "--database", url, "--keys", folder.path, "--admin-key-file", folder.url("none").path,
        ])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("can't be used: ") && result.errors.contains(mistake), "\(result.errors)")
        #expect(result.errors.contains("there is no such file; check the path"), "\(result.errors)")
        #expect(!result.errors.contains("pa55"), "\(result.errors)")
    }

    @Test func `serve --check prints each setting that differs from its default`() async throws {
        let database = folder.url("tenure.sqlite").path
        // The first start creates the database and the keys.
        let service = try RunningCommand(["serve", "--policy", policy, "--database", database, "--port", "0"])
        try #require(try await service.port() != nil, "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0)
        try #require(try await Command.run("mint", "authority", folder.url("authority").path).status == 0)
        try #require(try await Command.run("admin-key", "generate", "--out", folder.url("admin").path).status == 0)
        for name in ["hook", "s3-secret"] { try folder.writeSecret(String(repeating: "s", count: 32), to: name) }
        try FileManager.default.createDirectory(at: folder.url("loops"), withIntermediateDirectories: false)
        try folder.write("beat", to: "loops/beat.caf")
        let content = try folder.write(
            "app: com.example.calculator\npacks: { loops: { entitlement: everything, files: loops } }",
            to: "content.yaml")
        let (key, published) = (folder.url("key.pem").path, folder.url("published").path)
        try #require(try await Command.run("policy", "signing-key", key).status == 0)
        let publication = try await Command.run("content", "publish", content, "--key", key, "--to", published)
        try #require(publication.status == 0, "\(publication.errors)")
        let config = try folder.write(
            """
            policy: policy.yaml
            database: tenure.sqlite
            host: "::1"
            port: 4711
            environments: [sandbox]
            trust: [authority]
            testAnchorsBeyondLoopback: true
            adminKeyFile: admin
            behindProxy: [10.0.0.0/8, 127.0.0.1]
            metrics: open
            webhooks:
              - { name: shop, url: "https://shop.example.com/", secretFile: hook }
              - { name: books, url: "https://books.example.com/", secretFile: hook }
            content:
              folder: published
              linkLifetime: 1h
              s3: { region: eu-central-1, bucket: packs, accessKeyID: AKID, secretAccessKeyFile: s3-secret }
            rateLimits: { perAddress: 0, perToken: 5, tokenBurst: 7 }
            limits: { bodySize: 2048, bodyRate: 6, connections: 8, connectionsPerAddress: 9 }
            timeouts: { head: 1, body: 2, response: 3, idle: 4, shutdown: 5 }
            """, to: "tenure.yaml")
        let result = try await check(["--config", config])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let trusted = "  trusted in addition to Apple: "
        let names = try #require(lines(result).first { $0.hasPrefix(trusted) })
        #expect(names != trusted + "none")
        let expected = [
            "would serve com.example.calculator on http://[::1]:4711", "  policy: 2 eras, 1 entitlement",
            "  database: \(database)", "  signing key: found", "  environments: Sandbox", names,
            "  webhooks: shop, books", "  content: \(published), links for 3600 s to the bucket packs",
            "  TLS: by the proxy", "  proxies: 10.0.0.0/8, 127.0.0.1/32", "  admin key: set", "  metrics: open",
            "  requests from one address: no limit", "  requests with one token: 5 a second, 7 at once",
            "  timeouts: head 1 s, response 3 s, idle 4 s, shutdown 5 s", "  clock: the system's",
            "  connections: at most 8, 9 from one address",
            "  bodies: at most 2048 bytes, at least 6 bytes per second over 2 seconds",
        ]
        #expect(lines(result) == expected)
    }

    @Test func `serve --check describes each of several apps, and names a common mistake once`() async throws {
        try folder.write(Self.policy(of: "com.example.notes", until: "+480h"), to: "notes.yaml")
        let config = try folder.write(
            """
            port: 4711
            apps:
              calculator: { policy: policy.yaml, database: calculator.sqlite }
              notes: { policy: notes.yaml, database: notes.sqlite }
              default: notes
            """, to: "tenure.yaml")
        let result = try await check(["--config", config])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let headings = [
            "app calculator:", "would serve com.example.calculator on http://127.0.0.1:4711", "app notes (default):",
            "would serve com.example.notes on http://127.0.0.1:4711",
        ]
        #expect(lines(result).filter { !$0.hasPrefix(" ") } == headings)
        // The policy check's warnings follow the settings of their app.
        let warnings = lines(result).filter { $0.hasPrefix("  policy warning: ") }
        #expect(warnings.count == 1 && lines(result).last == warnings.first, "\(result.output)")
        #expect(warnings.first?.hasSuffix(" [changeover-wide]") == true)

        let misplaced = try await check(["--config", config, "--policy", policy, "--database", "x.sqlite"])
        #expect(misplaced.status == 1 && misplaced.output.isEmpty)
        for (name, flag) in [("policy", "--policy"), ("database", "--database")] {
            #expect(misplaced.errors.contains("error: each app has its own `\(name)`; leave out `\(flag)`\n"))
        }
        let proxy = try await check(["--config", config, "--behind-proxy", "everyone"])
        let words =
            "`everyone` in `behindProxy` isn't an address or a network; write one such as 127.0.0.1 or 10.0.0.0/8"
        #expect(proxy.status == 1 && proxy.errors.split(separator: "\n").count { $0 == "error: \(words)" } == 1)
    }

    @Test func `serve --check names the wrong database URL of two apps once`() async throws {
        try folder.write(Self.policy(of: "com.example.notes"), to: "notes.yaml")
        let url = "postgres://ada@127.0.0.1:1/db?connections=x"
        let config = try folder.write(
            """
            apps:
              calculator: { policy: policy.yaml, database: "\(url)", keys: calculator }
              notes: { policy: notes.yaml, database: "\(url)", keys: notes }
            """, to: "tenure.yaml")
        let result = try await check(["--config", config])
        let mistakes = result.errors.split(separator: "\n").filter { $0.contains("`connections=x` isn't a number") }
        #expect(result.status == 1 && mistakes.count == 1, "\(result.errors)")
    }

    @Test func `serve --check fails for settings without effect, and a starting service logs them`() async throws {
        let database = ["--database", folder.url("tenure.sqlite").path]
        let idle = try folder.write(
            "policy: wide.yaml\ncontent: { linkLifetime: 1h, s3: { bucket: packs } }\n", to: "tenure.yaml")
        try folder.write(Self.policy(until: "+480h"), to: "wide.yaml")
        let result = try await check(["--config", idle] + database)
        #expect(result.status == 1 && result.output.isEmpty)
        let advice = "has no effect without asset packs; set their folder with `content.folder`"
        #expect(result.errors == "error: `content.linkLifetime` \(advice)\nerror: `content.s3.bucket` \(advice)\n")

        let alone = try folder.write("apps: { default: notes }\n", to: "alone.yaml")
        let unused = try await check(["--config", alone, "--policy", policy] + database)
        #expect(unused.status == 1)
        #expect(unused.errors == "error: `apps.default` has no effect without `apps`; leave it out\n")

        let service = try RunningCommand(["serve", "--config", idle, "--port", "0"] + database)
        try #require(try await service.port() != nil, "\(service.errors)")
        #expect(try await service.says("`content.linkLifetime` \(advice)"), "\(service.errors)")
        #expect(try await service.says("[changeover-wide]"), "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0)
    }
}
