import CommandRunner
import Foundation
import PostgresServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One service with several apps in its configuration file.
@Suite struct AppsTests {
    private static func policy(_ bundleID: String) -> String {
        """
        app: { bundleID: \(bundleID), appleID: 828838134 }
        eras: [{ name: free, model: free }]
        entitlements: { everything: { products: [\(bundleID).everything] } }
        """
    }

    private func status(_ path: String, at port: Int) async throws -> Int? {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        return (try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode
    }

    @Test func `each app has its routes under its name, and its keys in a separate folder`() async throws {
        let folder = try Folder()
        try folder.write(Self.policy("com.example.calculator"), to: "calculator.yaml")
        try folder.write(Self.policy("com.example.notes"), to: "notes.yaml")
        let config = try folder.write(
            """
            port: 0
            apps:
              calculator: { policy: calculator.yaml, database: calculator.sqlite }
              notes: { policy: notes.yaml, database: notes.sqlite, keys: elsewhere }
            """, to: "tenure.yaml")
        let service = try RunningCommand(["serve", "--config", config])
        let port = try #require(try await service.port(), "\(service.errors)")
        #expect(service.output.contains("serving calculator, notes on"))
        for path in ["/apps/calculator/.well-known/jwks.json", "/apps/notes/.well-known/jwks.json", "/health/ready"] {
            #expect(try await status(path, at: port) == 200)
        }
        #expect(try await status("/.well-known/jwks.json", at: port) == 404)
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
        for path in ["keys/calculator/signing-key.json", "elsewhere/signing-key.json", "notes.sqlite"] {
            #expect(FileManager.default.fileExists(atPath: folder.url(path).path), "\(path)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.url("keys/notes").path))
        for name in ["signing-key.json", "access-token.secret"] {
            let (one, other) = (folder.url("keys/calculator/\(name)"), folder.url("elsewhere/\(name)"))
            #expect(try Data(contentsOf: one) != Data(contentsOf: other), "\(name)")
        }
    }

    @Test func `serve reports an app's missing or misplaced setting with its line, and an invalid name of an app`()
        async throws
    {
        let folder = try Folder()
        let cases = [
            ("apps: { notes: { policy: notes.yaml } }", "tenure.yaml:1:9: the app `notes` needs `database`"),
            (
                "apps: { notes: { policy: n, database: d, port: 1 } }",
                "tenure.yaml:1:42: there is no setting `port` for an app"
            ),
            (
                "policy: a.yaml\napps: { notes: { policy: n, database: d } }",
                "tenure.yaml:1:9: each app of `apps` has its own `policy`"
            ),
            ("apps: []", "tenure.yaml:1:7: `apps` isn't a mapping"),
            ("apps: {}", "tenure.yaml:1:7: `apps` is empty; write each app's name, with its settings below it"),
            (
                "apps: { Notes: { policy: notes.yaml, database: notes.sqlite } }",
                "the name `Notes` can't be part of a path"
            ),
        ]
        try folder.write(Self.policy("com.example.notes"), to: "notes.yaml")
        for (text, words) in cases {
            let config = try folder.write(text, to: "tenure.yaml")
            let result = try await Command.run("serve", "--config", config, "--port", "0")
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(files == ["notes.yaml", "tenure.yaml"])
        }
    }

    /// The configuration of an app with an SQLite file and of an app with this database.
    private func configuration(in folder: Folder, notes database: String) throws -> String {
        try folder.write(Self.policy("com.example.calculator"), to: "calculator.yaml")
        try folder.write(Self.policy("com.example.notes"), to: "notes.yaml")
        return try folder.write(
            """
            port: 0
            apps:
              calculator: { policy: calculator.yaml, database: calculator.sqlite }
              notes: { policy: notes.yaml, database: "\(database)" }
            """, to: "tenure.yaml")
    }

    /// Repeats a request until the response has this status, for as long as the service may take to notice a change.
    private func ready(
        _ path: String, _ client: SoakClient, becomes status: Int
    ) async throws -> (status: Int, answer: [String: Any]) {
        let began = ContinuousClock.now
        while true {
            let (found, answer) = await client.get(path, token: "")
            if found == status || .now - began > .seconds(30) { return (found, answer) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test func `an app starts once its database server runs, and other apps start without waiting`() async throws {
        let folder = try Folder()
        let server = try PostgresServer()
        try server.stop(.fast)
        let service = try RunningCommand(["serve", "--config", try configuration(in: folder, notes: server.url())])
        let client = SoakClient(port: try #require(try await service.port(), "\(service.errors)"))
        #expect(await client.get("/apps/calculator/health/ready", token: "").0 == 200)
        for path in ["/apps/notes/health/ready", "/apps/notes/v1/products"] {
            let (status, problem) = await client.get(path, token: "")
            #expect(status == 503 && problem["reason"] as? String == "appNotRunning", "\(status) \(problem)")
        }
        let all = await client.get("/health/ready", token: "")
        let apps = all.1["apps"] as? [String: [String: String]]
        #expect(
            all.0 == 200
                && apps == [
                    "calculator": ["status": "ok"], "notes": ["status": "failing", "reason": "appNotRunning"],
                ],
            "\(all)")

        try server.start()
        #expect(try await ready("/apps/notes/health/ready", client, becomes: 200).status == 200, "\(service.errors)")
        #expect(await client.get("/apps/notes/v1/products", token: "").0 == 200)

        try server.stop(.fast)
        let failed = try await ready("/apps/notes/health/ready", client, becomes: 503)
        #expect(failed.answer["reason"] as? String == "databaseUnreachable", "\(failed)")
        #expect(await client.get("/apps/calculator/health/ready", token: "").0 == 200)
        #expect(await client.get("/health/ready", token: "").0 == 200)
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
    }

    @Test func `a service of several apps isn't ready once no app can reach its database`() async throws {
        let folder = try Folder()
        let server = try PostgresServer()
        for name in ["calculator", "notes"] { try folder.write(Self.policy("com.example.\(name)"), to: "\(name).yaml") }
        let config = try folder.write(
            """
            port: 0
            apps:
              calculator: { policy: calculator.yaml, database: "\(server.url("schema=calculator"))" }
              notes: { policy: notes.yaml, database: "\(server.url("schema=notes"))" }
            """, to: "tenure.yaml")
        let service = try RunningCommand(["serve", "--config", config])
        let client = SoakClient(port: try #require(try await service.port(), "\(service.errors)"))
        #expect(await client.get("/health/ready", token: "").0 == 200)
        try server.stop(.fast)
        let failed = try await ready("/health/ready", client, becomes: 503)
        #expect(failed.status == 503 && failed.answer["reason"] as? String == "databaseUnreachable", "\(failed)")
        #expect(
            failed.answer["detail"] as? String
                == "no app is ready (calculator: databaseUnreachable, notes: databaseUnreachable); the log says why",
            "\(failed)")
        #expect(try await service.says("the database failed"), "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
    }

    @Test func `a service runs its other apps if the database of one app is missing`() async throws {
        let folder = try Folder()
        let config = try configuration(in: folder, notes: "notes.sqlite")
        let first = try RunningCommand(["serve", "--config", config])
        _ = try #require(try await first.port(), "\(first.errors)")
        #expect(await first.end(by: SIGTERM) == 0)
        for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(at: folder.url("notes.sqlite" + name)) }

        let service = try RunningCommand(["serve", "--config", config])
        let client = SoakClient(port: try #require(try await service.port(), "\(service.errors)"))
        #expect(await client.get("/apps/calculator/health/ready", token: "").0 == 200)
        #expect(await client.get("/apps/notes/health/ready", token: "").0 == 503)
        #expect(try await service.says("but there is a signing key"), "\(service.errors)")
        #expect(await service.end(by: SIGTERM) == 0)

        // If no app can run, the service doesn't start.
        for name in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(at: folder.url("calculator.sqlite" + name))
        }
        let none = try await Command.run("serve", "--config", config)
        #expect(none.status == 1 && none.errors.contains("but there is a signing key"), "\(none.errors)")
    }

    @Test func `serve --check fails if all apps together may open more connections than PostgreSQL allows`()
        async throws
    {
        let folder = try Folder()
        let server = try PostgresServer(settings: ["max_connections": "20"])
        for (connections, status, words) in [(10, Int32(0), ""), (17, 1, "may open 19 connections")] {
            let config = try configuration(in: folder, notes: server.url("connections=\(connections)"))
            let check = try await self.check(config)
            #expect(check.status == status, "\(check.errors)")
            #expect(words.isEmpty ? check.errors.isEmpty : check.errors.contains(words), "\(check.errors)")
        }
        // A service manager runs the check before each start, even while the database server is down.
        try server.stop(.fast)
        let config = try configuration(in: folder, notes: server.url("connections=17"))
        let check = try await self.check(config)
        #expect(check.status == 0 && check.errors.contains("warning: "), "\(check.errors)")
    }

    /// Runs the check without the environment variables of a developer.
    private func check(_ config: String) async throws -> Command.Result {
        let names = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TENURE_") }
        return try await Command.run(["serve", "--config", config, "--check"], removing: Array(names))
    }
}
