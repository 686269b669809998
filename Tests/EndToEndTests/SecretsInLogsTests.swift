import ArgumentParser
import CommandRunner
import Crypto
import Foundation
import PostgresServer
import TenureCore
import TenureStore
import Testing

@testable import TenureCLI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Searches the output of the built command at trace level for the secrets that it got.
@Suite(.serialized) struct `trace output of commands and the service` {
    private let testBed: SoakTestBed
    private var folder: Folder { testBed.folder }

    /// Texts for the password of a URL, a header, a query and a body. They are recognizable in any output.
    private static let password = "canary-Pa55~" + UUID().uuidString
    private static let bearer = "canary-bearer-" + UUID().uuidString

    init() throws {
        testBed = try SoakTestBed()
    }

    // MARK: Searching

    @Test func `the tests' search for secrets finds a secret in every encoding`() {
        let secret = Array("canary-0123456789".utf8)
        for text in [
            "a canary-0123456789 b", Data(secret).base64EncodedString(), Data([1] + secret + [2]).base64EncodedString(),
            Data([1, 2] + secret).base64EncodedString(), "63616e6172792d30313233343536373839",
            "[\(secret.map { "\($0)" }.joined(separator: ", "))]", "canary%2D0123456789",
        ] {
            #expect(Canaries.forms(of: secret).contains { text.contains($0) }, "\(text)")
        }
    }

    // MARK: Canaries

    private func canaries() throws -> [String: [UInt8]] {
        var canaries: [String: [UInt8]] = [
            "admin key": Array(SoakTestBed.adminKey.utf8), "password": Array(Self.password.utf8),
            "bearer token": Array(Self.bearer.utf8), "webhook secret": Array("canary-webhook-secret-4711".utf8),
        ]
        var keys = [
            "App Store key": try? folder.text("SubscriptionKey.p8"),
            "policy signing-key": try? folder.text("policy-key.pem"),
        ].compactMapValues(\.self)
        if let file = try? Data(contentsOf: folder.url("signing-key.json")) {
            let contents = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
            keys["signing key"] = try #require(contents["privateKey"] as? String)
        }
        for (name, pem) in keys {
            canaries[name + " (PEM)"] = Array((pem.split(separator: "\n").dropFirst().first ?? "").utf8)
            canaries[name] = try Array(P256.Signing.PrivateKey(pemRepresentation: pem).rawRepresentation)
        }
        if let secret = try? Data(contentsOf: folder.url("access-token.secret")) {
            canaries["access token secret"] = Array(secret)
        }
        return canaries
    }

    /// A configuration with a secret of every kind.
    private func settings(database: String) throws -> String {
        let key = P256.Signing.PrivateKey()
        try folder.writeSecret(key.pemRepresentation, to: "SubscriptionKey.p8")
        try folder.writeSecret("canary-webhook-secret-4711", to: "webhook.secret")
        try folder.writeSecret(SoakTestBed.adminKey + "\n", to: "admin-key")
        return try folder.writeSecret(
            """
            policy: policy.yaml
            database: "\(database)"
            keys: .
            port: 0
            trust: [authority]
            adminKeyFile: admin-key
            logLevel: trace
            appStore:
              issuerID: 57246542-96fe-1a63-e053-0824d011072a
              keyID: 2X9R4HXF34
              privateKeyFile: SubscriptionKey.p8
              hosts: { production: "http://127.0.0.1:9", sandbox: "http://127.0.0.1:9" }
            webhooks:
              - { name: app, url: "http://127.0.0.1:9/\(Self.password)?token=\(Self.password)", secretFile: webhook.secret,
                  allowPrivate: true }
            """, to: "tenure.yaml")
    }

    // MARK: The service

    @Test(arguments: ["json", "text"]) func `no trace output of the service shows a secret`(format: String) async throws
    {
        let config = try settings(database: "tenure.sqlite")
        let service = try RunningCommand(["serve", "--config", config, "--log-format", format])
        let port = try #require(try await service.port(), "\(service.errors)")
        let artifact = try testBed.appTransaction(of: "704000000000000001")
        let synced = try await send("POST", "/v1/sync", SoakClient.body(artifact, []), port: port)
        let token = try #require((synced["accessToken"] as? [String: Any])?["value"] as? String)
        _ = try await send("GET", "/v1/customer", port: port, bearer: token)
        for path in [
            "/v1/customer", "/v1/admin/audit", "/\(Self.bearer)", "/v1/admin/customers?id=\(Self.bearer)",
            "/v1/admin/customers/\(Self.bearer)", "//v1/customer?\(Self.bearer)",
            "/v1/products?password=\(Self.password)",
        ] {
            _ = try await send("GET", path, port: port, bearer: Self.bearer)
            _ = try await send("GET", path, port: port, bearer: SoakTestBed.adminKey)
        }
        for body in [
            [Self.bearer: Self.bearer], ["appTransaction": Self.bearer], ["receipt": [Self.bearer]],
            ["transactions": [Self.bearer, artifact], "deviceVerificationID": Self.bearer],
            ["signedPayload": Self.bearer], ["userID": Self.bearer, Self.bearer: 1],
        ] as [[String: Any]] {
            for path in [
                "/v1/sync", "/v1/notifications/apple", "/v1/link", "/v1/trials/\(Self.bearer)/sessions",
                "/v1/admin/policies", "/v1/admin/customers/find",
            ] {
                _ = try await send("POST", path, body, port: port, bearer: SoakTestBed.adminKey)
                _ = try await send("POST", path, body, port: port, bearer: Self.bearer)
            }
        }
        let broken = try RawConnection(port: port)
        broken.send("GET /\(Self.bearer) HTTP/9.9\r\nAuthorization: Bearer \(Self.bearer)\r\n\r\n")
        _ = await broken.received()
        let torn = try RawConnection(port: port)
        torn.send(
            "POST /v1/sync HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(Self.bearer)\r\nContent-Length: 99\r\n\r\nx"
        )
        // Another process damages the database, which causes a 500.
        let store = try Store(SQLiteDatabase(path: folder.url("tenure.sqlite").path))
        _ = try await store.database.write(locking: []) { session throws(StoreError) in
            try session.execute("ALTER TABLE audit RENAME TO no_audit", [])
        }
        try await store.close()
        let failed = try await status(
            "GET", "/v1/admin/audit?customer=\(Self.bearer)", port: port, bearer: SoakTestBed.adminKey)
        #expect(failed == 500)
        service.signal(SIGHUP)
        #expect(try await service.says("neither a TLS certificate nor a bucket is configured"))
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(service.errors.contains("Starting service") && service.errors.contains("request refused"))
        // A log line with all properties of the service has kilobytes.
        let longest = service.errors.split(separator: "\n").max { $0.count < $1.count } ?? ""
        #expect(longest.count < 4000, "\(longest)")
        var canaries = try canaries()
        canaries["access token"] = Array(token.utf8)
        canaries["artifact"] = Array(artifact.suffix(60).utf8)
        #expect(canaries.count == 11, "\(canaries.keys)")
        Canaries.expect(service.output + service.errors, without: canaries, "serve")
    }

    @Test func `no trace output of a service that can't start shows a secret`() async throws {
        let word = Self.password
        func run(
            _ what: String, _ arguments: [String], _ environment: [String: String] = [:],
            without known: [String: [UInt8]]? = nil
        ) async throws {
            let result = try await Command.run(arguments, environment: environment)
            #expect(result.status != 0, "\(what): \(result.output)")
            // Each output is checked immediately, because each configuration has its own App Store key.
            Canaries.expect(result.output + result.errors, without: try known ?? canaries(), what)
        }
        let urls = [
            "postgres://ada:\(word)@127.0.0.1:9/name", "postgres://ada:\(word)@x@127.0.0.1:9/name",
            "postgres://ada:\(word)/x@127.0.0.1:9/name", "postgres://127.0.0.1:9/name?password=\(word)",
            "postgres://ada:\(word)@127.0.0.1:9/name?no_such_option=1",
            "postgres://ada:\(word)@127.0.0.1:9/n?connections=x",
            "mysql://ada:\(word)@127.0.0.1:9/name", "postgres://ada:\(word)%zz@127.0.0.1:9/name",
        ]
        for url in urls {
            let config = try settings(database: url)
            try await run("serve \(url)", ["serve", "--config", config])
            try await run("serve --check", ["serve", "--config", config, "--check", "--port", url])
            try await run(
                "serve by environment", ["serve", "--config", config], ["TENURE_DATABASE": url, "TENURE_PORT": url])
        }
        let config = try settings(database: urls[0])
        for (from, to) in [
            ("database:", "databse:"), ("keys: .", "keys: [.\n"), ("port: 0", "port: \"\(urls[0])\""),
            ("adminKeyFile: admin-key", "adminKeyFile: \(SoakTestBed.adminKey)"),
            ("policy: policy.yaml", "policy: {x: \"\(urls[0])\"}"),
            ("url: \"http://127.0.0.1:9/", "url: \"http://ada:\(word)@127.0.0.1:9/"),
            ("hosts: { production: \"http://", "hosts: { production: \"http://ada:\(word)@"),
            ("trust: [authority]", "trust: \"\(urls[0])\""), ("database:", "database: x\ndatabase:"),
        ] {
            let text = try folder.text("tenure.yaml")
            let changed = text.replacingOccurrences(of: from, with: to)
            #expect(changed != text, "\(from)")
            let file = try folder.writeSecret(changed, to: "broken.yaml")
            try await run("serve with \(to.prefix(12))", ["serve", "--config", file])
        }
        try await run("serve --databse", ["serve", "--databse", urls[0]])
        try await run("serve --databse=", ["serve", "--databse=\(urls[0])"])
        try await run("serve URL", ["serve", urls[0]])
        for (name, secret) in [("--admin-key-file", SoakTestBed.adminKey), ("--tls-key", urls[0])] {
            try await run("serve \(name)", ["serve", "--config", config, name, secret])
        }
        let known = try canaries()
        try folder.writeSecret("no key: \(word)", to: "SubscriptionKey.p8")
        try await run(
            "serve with a broken key", ["serve", "--config", config, "--database", folder.url("new.sqlite").path],
            without: known)
    }

    @Test func `no trace output shows the password of a database that refuses the connection`() async throws {
        let server = try PostgresServer(access: ["host all guarded 127.0.0.1/32 scram-sha-256"])
        let url = server.url(user: "guarded:\(Self.password)").replacingOccurrences(of: "~", with: "%7E")
        for arguments in [
            ["serve", "--config", try settings(database: url)], ["database", "check", "--database", url],
            ["admin-key", "list", "--database", url],
        ] {
            let result = try await Command.run(arguments, environment: ["TENURE_LOG_LEVEL": "trace"])
            #expect(result.status == 1)
            Canaries.expect(result.output + result.errors, without: try canaries(), arguments[0])
        }
    }

    // MARK: Every command

    @Test func `a failing command prints no secret from its arguments or settings, even at trace level`() async throws {
        let commands = everyCommand()
        #expect(commands.count > 35 && commands.contains(["database", "check"]), "\(commands)")
        let url = "postgres://ada:\(Self.password)@127.0.0.1:9/name"
        let keyFile = try folder.writeSecret(SoakTestBed.adminKey, to: "admin-key")
        let arguments = [
            ["--database", url], ["--databse=\(url)"],
            ["--service", "http://ada:\(Self.password)@127.0.0.1:9", "--key-file", keyFile],
            ["--service", "http://127.0.0.1:9", "--key", SoakTestBed.adminKey, "x"],
            ["--store", "http://ada:\(Self.password)@127.0.0.1:9", "x"],
            [url, url, url],
        ]
        let environment = ["TENURE_LOG_LEVEL": "trace", "TENURE_DATABASE": url, "TENURE_LOCAL_STORE_URL": url]
        let canaries = try canaries()
        for command in commands {
            for more in arguments {
                // Its output files are in the test's folder.
                let result = try await Command.run(command + more, environment: environment)
                #expect(result.status != 0, "\(command) \(more): \(result.output)")
                Canaries.expect(result.output + result.errors, without: canaries, command.joined(separator: " "))
            }
        }
    }

    @Test func `no trace output of a command that talks to a service shows a secret`() async throws {
        let config = try settings(database: "tenure.sqlite")
        let service = try RunningCommand(["serve", "--config", config])
        let port = try #require(try await service.port(), "\(service.errors)")
        let (database, key) = (["--database", folder.url("tenure.sqlite").path], folder.url("admin-key").path)
        let options = ["--service", "http://127.0.0.1:\(port)", "--key-file", key]
        let policySigningKey = folder.url("policy-key.pem").path
        for arguments in [
            ["persona", "list"] + options,
            ["persona", "create", "--name", "early", "--set", "originalAppVersion=37"] + options,
            ["policy", "versions"] + options, ["policy", "show", "1"] + options,
            ["policy", "publish", folder.url("policy.yaml").path, "--rehearse"] + options,
            ["app-store", "order", "MVWX6Y7Z8Q"] + options, ["admin-key", "list"] + database,
            ["database", "check"] + database,
            ["database", "dump"] + database, ["webhook", "log", "--since", "2020-01-01"] + database,
            [
                "webhook", "test", "http://127.0.0.1:9/\(Self.password)", "--allow-private", "--secret-file",
                folder.url("webhook.secret").path,
            ],
            ["policy", "signing-key", policySigningKey],
            [
                "policy", "sign", folder.url("policy.yaml").path, "--key", policySigningKey, "--out",
                folder.url("signed.jws").path,
            ],
        ] {
            let result = try await Command.run(arguments, environment: ["TENURE_LOG_LEVEL": "trace"])
            Canaries.expect(
                result.output + result.errors, without: try canaries(), arguments.prefix(2).joined(separator: " "))
        }
        #expect(await service.end(by: SIGTERM) == 0)
        Canaries.expect(service.output + service.errors, without: try canaries(), "serve")
    }

    // MARK: Requests

    private func request(
        _ method: String, _ path: String, _ body: Data?, port: Int, bearer: String?
    ) async throws -> (Data, Int) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let bearer {
            request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization")
            request.setValue(bearer, forHTTPHeaderField: "Idempotency-Key")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        return (data, (response as? HTTPURLResponse)?.statusCode ?? 0)
    }

    private func send(
        _ method: String, _ path: String, _ body: [String: Any]? = nil, port: Int, bearer: String? = nil
    ) async throws -> [String: Any] {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        let answer = try await request(method, path, data, port: port, bearer: bearer).0
        return (try? JSONSerialization.jsonObject(with: answer)) as? [String: Any] ?? [:]
    }

    private func status(_ method: String, _ path: String, port: Int, bearer: String) async throws -> Int {
        try await request(method, path, nil, port: port, bearer: bearer).1
    }
}
