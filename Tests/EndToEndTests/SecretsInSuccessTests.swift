import CommandRunner
import Foundation
import TenureCore
import TenureMint
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs every command successfully at trace level. No output may show a secret from any file.
@Suite struct `trace output of commands that succeed` {
    /// Runs commands, and collects their outputs and all secrets that existed at any time.
    private final class CommandRecorder {
        let folder: Folder
        private(set) var commands: Set<[String]> = []
        private var outputs: [(command: String, text: String)] = []
        private(set) var canaries: [String: [UInt8]] = [:]
        var environment = ["TENURE_LOG_LEVEL": "trace"]

        init() throws { folder = try Folder() }

        func path(_ name: String) -> String { folder.url(name).path }

        /// - Parameter name: the words of the command, separated by spaces.
        @discardableResult
        func run(
            _ name: String, _ arguments: [String] = [], expecting status: Int32 = 0,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> String {
            let words = name.split(separator: " ").map(String.init)
            let result = try await Command.run(words + arguments, environment: environment)
            #expect(
                result.status == status, "\(name) \(arguments): \(result.output)\(result.errors)",
                sourceLocation: sourceLocation)
            commands.insert(words)
            outputs.append((name, result.output + result.errors))
            collect()
            return result.output
        }

        /// Starts a command that keeps running.
        func start(_ words: [String], _ arguments: [String]) throws -> RunningCommand {
            commands.insert(words)
            return try RunningCommand(words + arguments, environment: environment)
        }

        func stop(_ running: RunningCommand, _ name: String) async {
            #expect(await running.end(by: SIGTERM) == 0)
            outputs.append((name, running.output + running.errors))
        }

        /// Collects the present secrets, because a rotation deletes the older key.
        func collect() {
            canaries.merge(Canaries.privateKeys(in: folder.path)) { first, _ in first }
            for name in ["admin-key", "webhook.secret", "keys/access-token.secret"] {
                guard let data = FileManager.default.contents(atPath: path(name)) else { continue }
                canaries[name] = Array(data.last == UInt8(ascii: "\n") ? data.dropLast() : data)
            }
        }

        /// A secret that the command itself must print.
        func add(_ name: String, _ secret: String, of command: [String]) {
            commands.insert(command)
            canaries[name] = Array(secret.utf8)
        }

        func expectNoSecrets() {
            for (command, text) in outputs { Canaries.expect(text, without: canaries, command) }
        }
    }

    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }, changeover: none }
        buildNumbers: increasing
        entitlements:
          everything: { honors: [paid] }
          pro: { products: [com.example.calculator.pro] }
        """

    private static let scenario = """
        scenario: A calculator
        policy: policy.yaml
        begins: 2023-01-01
        app:
          bundleID: com.example.calculator
          appleID: 828838134
          releases: [{ platform: iOS, build: "12", version: "1.2", at: 2022-01-10 }]
          prices: [{ from: 2022-01-10, price: free }]
          products: { com.example.calculator.pro: { type: nonConsumable, price: 4.99 } }
        customers: { Zoe: {} }
        timeline: []
        """

    private static let cases = """
        now: 2015-07-01
        cases:
          - name: build 37
            app: { originalAppVersion: "37", originalPurchaseDate: 2014-05-01 }
            expect: { everything: granted }
        """

    private static let content = """
        app: com.example.calculator
        packs: { levels: { entitlement: everything, files: levels/ } }
        """

    @Test(.timeLimit(.minutes(15)))
    func `every command that succeeds at trace level shows no private key, admin key or other secret`() async throws {
        let recorder = try CommandRecorder()
        let folder = recorder.folder
        for (text, name) in [
            (Self.policy, "policy.yaml"),
            (Self.policy.replacing(".pro]", with: ".pro, com.example.plus]"), "changed.yaml"),
            (Self.scenario, "scenario.yaml"), (Self.cases, "cases.yaml"), (Self.content, "content.yaml"),
        ] {
            try folder.write(text, to: name)
        }
        try FileManager.default.createDirectory(atPath: recorder.path("levels"), withIntermediateDirectories: true)
        try folder.write("one", to: "levels/one.txt")
        try folder.writeSecret("canary-webhook-secret-4711-4711-4711", to: "webhook.secret")

        try await runAlone(recorder)
        try await runAgainstService(recorder)
        try await rotate(recorder)
        recorder.expectNoSecrets()

        let missing = Set(everyCommand()).subtracting(recorder.commands)
        #expect(missing.isEmpty, "these commands were not run: \(missing)")
        let names = recorder.canaries.keys.joined(separator: "\n")
        for name in [
            "root.json", "keys/signing-key.json", "policy-key.pem", "store/SubscriptionKey.p8", "admin-key",
            "webhook.secret", "keys/access-token.secret", "authority/", "key of ann",
        ] {
            #expect(names.contains(name), "\(name) is no canary: \(names)")
        }
        // The secrets include keys that were rotated out, and the key that waited for the root.
        #expect(names.components(separatedBy: "in keys/signing-key.json").count > 2 * 4, "\(names)")
    }

    // MARK: Without a service

    private func runAlone(_ recorder: CommandRecorder) async throws {
        let policy = recorder.path("policy.yaml")
        try await recorder.run("admin-key generate", ["--out", recorder.path("admin-key")])
        try await recorder.run("policy check", [policy])
        try await recorder.run("policy test", [policy, recorder.path("cases.yaml")])
        try await recorder.run("policy compile", [policy, "--out", recorder.path("policy.json")])
        let key = recorder.path("policy-key.pem")
        try await recorder.run("policy signing-key", [key])
        try await recorder.run("policy sign", [policy, "--key", key, "--out", recorder.path("policy.jws")])

        let authority = recorder.path("authority")
        try await recorder.run("mint authority", [authority])
        for kind in ["app-transaction", "transaction", "renewal-info", "notification", "receipt"] {
            try await recorder.run("mint " + kind, ["--authority", authority, "--out", recorder.path(kind)])
        }
        let lines = recorder.path("lines.ndjson")
        try await recorder.run("mint corpus", ["--authority", authority, "--count", "20", "--out", lines])
        try await recorder.run("inspect", [recorder.path("app-transaction"), "--trust", authority])
        try await recorder.run(
            "decide",
            [recorder.path("app-transaction"), "--policy", policy, "--trust", authority, "--entitlement", "everything"])
        try await recorder.run(
            "rehearse",
            [
                "--policy", policy, "--against", recorder.path("changed.yaml"), "--evidence", lines, "--trust",
                authority,
                "--report", recorder.path("report.html"),
            ])

        let content = [recorder.path("content.yaml"), "--policy", policy]
        let published = recorder.path("published")
        try await recorder.run("content check", content)
        try await recorder.run("content publish", content + ["--key", key, "--to", published])
        try await recorder.run("content list", [published, "--key", key])
        try await recorder.run("content prune", [published])
        try await recorder.run("content embed", content + ["--to", recorder.path("bundle")])

        try await recorder.run("scenario settings", ["--folder", recorder.path("scenario"), "--local-store-port", "9"])
        try await recorder.run("scenario run", [recorder.path("scenario.yaml"), "--policy", policy])
        try await recorder.run("demo", ["--once", "--folder", recorder.path("demo"), "--port", "0"])
    }

    // MARK: With a service, and the local App Store that it asks

    private func runAgainstService(_ recorder: CommandRecorder) async throws {
        let servicePort = try await freePort(recorder)
        let url = "http://127.0.0.1:\(servicePort)"
        let store = try recorder.start(
            ["local-store", "run"],
            [
                "--scenario", recorder.path("scenario.yaml"), "--folder", recorder.path("store"), "--port", "0",
                "--notify",
                url + "/v1/notifications/apple",
            ])
        let storeURL = "http://127.0.0.1:\(try #require(try await store.port(), "\(store.errors)"))"
        // "server API key PATH, issuer ID, key id ID"
        let line = try #require(store.output.split(separator: "\n").first { $0.hasPrefix("server API key ") })
        let words = line.replacing(",", with: "").split(separator: " ").map(String.init)
        try #require(words.count == 9)
        try FileManager.default.createDirectory(atPath: recorder.path("keys"), withIntermediateDirectories: true)
        let config = try recorder.folder.writeSecret(
            """
            policy: policy.yaml
            database: tenure.sqlite
            keys: keys
            port: \(servicePort)
            adminKeyFile: admin-key
            trust: [store/authority]
            clock: store/clock
            appStore:
              issuerID: \(words[5])
              keyID: \(words[8])
              privateKeyFile: \(words[3])
              hosts: { production: "\(storeURL)", sandbox: "\(storeURL)" }
            webhooks: [{ name: app, url: "http://127.0.0.1:9/", secretFile: webhook.secret, allowPrivate: true }]
            """, to: "tenure.yaml")
        let service = try recorder.start(["serve"], ["--config", config])
        _ = try #require(try await service.port(), "\(service.errors)")
        recorder.collect()
        recorder.environment["TENURE_LOCAL_STORE_URL"] = storeURL

        try await recorder.run("local-store do", ["acquire", "customer=Zoe"])
        let bought = try await recorder.run(
            "local-store do", ["buy", "customer=Zoe", "product=com.example.calculator.pro"])
        let order = try #require(
            bought.components(separatedBy: "order ").last?.split(whereSeparator: \.isWhitespace).first)
        let device = try await recorder.run("local-store device", ["Zoe"])
        #expect(try await sync(device, at: url) == 200)
        let admin = ["--service", url, "--key-file", recorder.path("admin-key")]
        try await recorder.run("app-store order", [String(order)] + admin)
        try await recorder.run("local-store fault", ["5000001", "--requests", "0"])
        try await recorder.run("app-store test-notification", ["production", "--config", config])

        try await recorder.run("policy publish", [recorder.path("changed.yaml"), "--reason", "test"] + admin)
        try await recorder.run("policy versions", admin)
        try await recorder.run("policy show", ["1"] + admin)
        try await recorder.run("policy rollback", ["--to", "1", "--reason", "test"] + admin)
        try await recorder.run("persona create", ["--name", "early", "--set", "originalAppVersion=37"] + admin)
        try await recorder.run("persona list", admin)
        try await recorder.run("persona ready-made", admin)
        try await recorder.run("persona revoke", ["early"] + admin)

        try await useDatabase(recorder, at: url)
        await recorder.stop(service, "serve")
        await recorder.stop(store, "local-store run")
    }

    private func useDatabase(_ recorder: CommandRecorder, at service: String) async throws {
        let database = ["--database", recorder.path("tenure.sqlite")]
        let trust = ["--trust", recorder.path("store/authority")]
        // Only this command prints the key, and only once.
        let created = try await Command.run(["admin-key", "create", "--scope", "support", "--name", "ann"] + database)
        let key = try #require(created.output.split(whereSeparator: \.isWhitespace).last { $0.count > 40 })
        recorder.add("key of ann", String(key), of: ["admin-key", "create"])
        try await recorder.run("admin-key list", database)
        try await recorder.run("admin-key revoke", ["ann"] + database)
        try await recorder.run("database check", database + trust)
        try await recorder.run("database rebuild", database + trust)
        try await recorder.run("database dump", database)
        try await recorder.run("database backup", database + [recorder.path("backup.sqlite")])
        try await recorder.run(
            "database migrate", ["--database", recorder.path("backup.sqlite"), "--to", recorder.path("moved.sqlite")])
        try await recorder.run("database reopen", ["--database", recorder.path("backup.sqlite")])
        try await recorder.run(
            "database restore", ["--database", recorder.path("moved.sqlite"), recorder.path("backup.sqlite")])
        let restored = ["--database", recorder.path("moved.sqlite")]
        try await recorder.run("database vacuum", restored)
        try await recorder.run("database accept-keys", restored)
        try await useApps(recorder)
        try await recorder.run("webhook log", database + ["--since", "2020-01-01"])
        try await recorder.run("webhook replay", database + ["--since", "2020-01-01"])
        // The service refuses the message, which was signed and sent.
        try await recorder.run(
            "webhook test", [service, "--allow-private", "--secret-file", recorder.path("webhook.secret")], expecting: 2
        )
    }

    private func useApps(_ recorder: CommandRecorder) async throws {
        let config = try recorder.folder.writeSecret(
            """
            port: 0
            adminKeyFile: admin-key
            apps: { calculator: { policy: policy.yaml, database: moved.sqlite, keys: keys } }
            """, to: "apps.yaml")
        let service = try recorder.start(["serve"], ["--config", config])
        let port = try #require(try await service.port(), "\(service.errors)")
        let admin = ["--service", "http://127.0.0.1:\(port)", "--key-file", recorder.path("admin-key")]
        try await recorder.run("apps list", admin)
        try await recorder.run("apps reload", admin)
        await recorder.stop(service, "serve")
    }

    // MARK: Signing keys

    private func rotate(_ recorder: CommandRecorder) async throws {
        let keys = ["--keys", recorder.path("keys")]
        let (root, publicRoot) = (recorder.path("root.json"), recorder.path("root-public.json"))
        func write(_ text: String, to name: String) throws -> String {
            try recorder.folder.write(text.split(separator: "\n").last.map(String.init) ?? "", to: name)
        }
        _ = try write(try await recorder.run("signing-key root create", [root]), to: "root-public.json")
        let first = try await recorder.run("signing-key list", keys)
        try await recorder.run("signing-key rotate", keys)
        var key = try write(try await recorder.run("signing-key list", keys), to: "public.json")
        var statement = try write(
            try await recorder.run("signing-key root sign", [root, "--key", key, "--days", "30"]), to: "statement.jwt")
        try await recorder.run("signing-key install", keys + ["--root", publicRoot, statement])
        // The next key waits for the root.
        key = try write(try await recorder.run("signing-key rotate", keys), to: "public.json")
        statement = try write(
            try await recorder.run("signing-key root sign", [root, "--key", key, "--days", "30"]), to: "statement.jwt")
        try await recorder.run("signing-key install", keys + [statement])
        let id = try #require(first.split(separator: " ").first.map(String.init))
        statement = try write(try await recorder.run("signing-key root revoke", [root, id]), to: "revocations.jwt")
        try await recorder.run("signing-key install", keys + [statement])
        let second = try #require(
            try await recorder.run("signing-key list", keys).split(separator: "\n").dropFirst().first?
                .split(separator: " ").first.map(String.init))
        try await recorder.run("signing-key revoke", keys + [second])
    }

    // MARK: Requests

    private func sync(_ body: String, at url: String) async throws -> Int? {
        var request = URLRequest(url: try #require(URL(string: url + "/v1/sync")))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }

    /// A free port: a local App Store has just released it.
    private func freePort(_ recorder: CommandRecorder) async throws -> Int {
        let store = try RunningCommand([
            "local-store", "run", "--folder", recorder.path("first"), "--port", "0", "--scenario",
            recorder.path("scenario.yaml"),
        ])
        let port = try #require(try await store.port(), "\(store.errors)")
        #expect(await store.end(by: SIGTERM) == 0)
        return port
    }
}
