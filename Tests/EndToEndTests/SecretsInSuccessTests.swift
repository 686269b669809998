import CommandRunner
import Foundation
import TenureCore
import TenureMint
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Every command, with all that it needs to succeed, at its most talkative: no output shows a secret of any file.
@Suite struct `every command that succeeds at trace level` {
    /// Runs commands and keeps what they write, and the secrets that there were at any time.
    private final class Desk {
        let folder: Folder
        private(set) var commands: Set<[String]> = []
        private var outputs: [(command: String, text: String)] = []
        private(set) var canaries: [String: [UInt8]] = [:]
        var environment = ["TENURE_LOG_LEVEL": "trace"]

        init() throws { folder = try Folder() }

        func path(_ name: String) -> String { folder.url(name).path }

        /// The name has as many words as the command has.
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

        /// For those that go on.
        func start(_ words: [String], _ arguments: [String]) throws -> RunningCommand {
            commands.insert(words)
            return try RunningCommand(words + arguments, environment: environment)
        }

        func stop(_ running: RunningCommand, _ name: String) async {
            #expect(await running.end(by: SIGTERM) == 0)
            outputs.append((name, running.output + running.errors))
        }

        /// Keys come and go: a rotation forgets the older one.
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

    @Test(.timeLimit(.minutes(15))) func `shows no private key, admin key or other secret`() async throws {
        let desk = try Desk()
        let folder = desk.folder
        for (text, name) in [
            (Self.policy, "policy.yaml"),
            (Self.policy.replacing(".pro]", with: ".pro, com.example.plus]"), "changed.yaml"),
            (Self.scenario, "world.yaml"), (Self.cases, "cases.yaml"), (Self.content, "content.yaml"),
        ] {
            try folder.write(text, to: name)
        }
        try FileManager.default.createDirectory(atPath: desk.path("levels"), withIntermediateDirectories: true)
        try folder.write("one", to: "levels/one.txt")
        try folder.writeSecret("canary-webhook-secret-4711-4711-4711", to: "webhook.secret")

        try await runAlone(desk)
        try await runAgainstService(desk)
        try await rotate(desk)
        desk.expectNoSecrets()

        let missing = Set(everyCommand()).subtracting(desk.commands)
        #expect(missing.isEmpty, "these commands were not run: \(missing)")
        let names = desk.canaries.keys.joined(separator: "\n")
        for name in [
            "root.json", "keys/signing-key.json", "policy-key.pem", "store/SubscriptionKey.p8", "admin-key",
            "webhook.secret", "keys/access-token.secret", "authority/", "key of ann",
        ] {
            #expect(names.contains(name), "\(name) is no canary: \(names)")
        }
        // Those that were rotated out, and that which waited for the root, too.
        #expect(names.components(separatedBy: "in keys/signing-key.json").count > 2 * 4, "\(names)")
    }

    // MARK: Without a service

    private func runAlone(_ desk: Desk) async throws {
        let policy = desk.path("policy.yaml")
        try await desk.run("key generate", ["--out", desk.path("admin-key")])
        try await desk.run("policy check", [policy])
        try await desk.run("policy test", [policy, desk.path("cases.yaml")])
        try await desk.run("policy compile", [policy, "--out", desk.path("policy.json")])
        let key = desk.path("policy-key.pem")
        try await desk.run("policy key", [key])
        try await desk.run("policy sign", [policy, "--key", key, "--out", desk.path("policy.jws")])

        let authority = desk.path("authority")
        try await desk.run("mint authority", [authority])
        for kind in ["app-transaction", "transaction", "renewal-info", "notification", "receipt"] {
            try await desk.run("mint " + kind, ["--authority", authority, "--out", desk.path(kind)])
        }
        let lines = desk.path("lines.ndjson")
        try await desk.run("mint corpus", ["--authority", authority, "--count", "20", "--out", lines])
        try await desk.run("inspect", [desk.path("app-transaction"), "--trust", authority])
        try await desk.run(
            "decide",
            [desk.path("app-transaction"), "--policy", policy, "--trust", authority, "--entitlement", "everything"])
        try await desk.run(
            "rehearse",
            [
                "--policy", policy, "--against", desk.path("changed.yaml"), "--evidence", lines, "--trust", authority,
                "--report", desk.path("report.html"),
            ])

        let content = [desk.path("content.yaml"), "--policy", policy]
        let published = desk.path("published")
        try await desk.run("content check", content)
        try await desk.run("content publish", content + ["--key", key, "--to", published])
        try await desk.run("content list", [published, "--key", key])
        try await desk.run("content prune", [published])
        try await desk.run("content embed", content + ["--to", desk.path("bundle")])

        try await desk.run("scenario settings", ["--folder", desk.path("scenario"), "--store-port", "9"])
        try await desk.run("scenario soak", ["--customers", "3"])
        try await desk.run("scenario run", [desk.path("world.yaml"), "--policy", policy])
        try await desk.run("demo", ["--once", "--folder", desk.path("demo"), "--port", "0"])
    }

    // MARK: With a service, and the local App Store that it asks

    private func runAgainstService(_ desk: Desk) async throws {
        let servicePort = try await freePort(desk)
        let url = "http://127.0.0.1:\(servicePort)"
        let store = try desk.start(
            ["appstore", "run"],
            [
                "--world", desk.path("world.yaml"), "--folder", desk.path("store"), "--port", "0", "--notify",
                url + "/v1/notifications/apple",
            ])
        let storeURL = "http://127.0.0.1:\(try #require(try await store.port(), "\(store.errors)"))"
        // "server API key PATH, issuer ID, key id ID"
        let line = try #require(store.output.split(separator: "\n").first { $0.hasPrefix("server API key ") })
        let words = line.replacing(",", with: "").split(separator: " ").map(String.init)
        try #require(words.count == 9)
        try FileManager.default.createDirectory(atPath: desk.path("keys"), withIntermediateDirectories: true)
        let config = try desk.folder.writeSecret(
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
        let service = try desk.start(["serve"], ["--config", config])
        _ = try #require(try await service.port(), "\(service.errors)")
        desk.collect()
        desk.environment["TENURE_STORE_URL"] = storeURL

        try await desk.run("appstore do", ["acquire", "customer=Zoe"])
        let bought = try await desk.run("appstore do", ["buy", "customer=Zoe", "product=com.example.calculator.pro"])
        let order = try #require(
            bought.components(separatedBy: "order ").last?.split(whereSeparator: \.isWhitespace).first)
        let device = try await desk.run("appstore device", ["Zoe"])
        #expect(try await sync(device, at: url) == 200)
        let admin = ["--service", url, "--key-file", desk.path("admin-key")]
        try await desk.run("appstore order", [String(order)] + admin)
        try await desk.run("appstore trouble", ["5000001", "--requests", "0"])
        try await desk.run("appstore test-notification", ["production", "--config", config])

        try await desk.run("policy publish", [desk.path("changed.yaml"), "--reason", "test"] + admin)
        try await desk.run("policy versions", admin)
        try await desk.run("policy show", ["1"] + admin)
        try await desk.run("policy rollback", ["--to", "1", "--reason", "test"] + admin)
        try await desk.run("persona create", ["--name", "early", "--set", "originalAppVersion=37"] + admin)
        try await desk.run("persona list", admin)
        try await desk.run("persona ready-made", admin)
        try await desk.run("persona revoke", ["early"] + admin)

        try await useDatabase(desk, at: url)
        await desk.stop(service, "serve")
        await desk.stop(store, "appstore run")
    }

    private func useDatabase(_ desk: Desk, at service: String) async throws {
        let database = ["--database", desk.path("tenure.sqlite")]
        let trust = ["--trust", desk.path("store/authority")]
        // It is printed once, and never again.
        let created = try await Command.run(["key", "create", "--scope", "support", "--name", "ann"] + database)
        let key = try #require(created.output.split(whereSeparator: \.isWhitespace).last { $0.count > 40 })
        desk.add("key of ann", String(key), of: ["key", "create"])
        try await desk.run("key list", database)
        try await desk.run("key revoke", ["ann"] + database)
        try await desk.run("record check", database + trust)
        try await desk.run("record rebuild", database + trust)
        try await desk.run("record dump", database)
        try await desk.run("record backup", database + [desk.path("backup.sqlite")])
        try await desk.run(
            "record migrate", ["--database", desk.path("backup.sqlite"), "--to", desk.path("moved.sqlite")])
        try await desk.run("webhook log", database + ["--since", "2020-01-01"])
        try await desk.run("webhook replay", database + ["--since", "2020-01-01"])
        // The service refuses it, after it was signed and sent.
        try await desk.run(
            "webhook test", [service, "--allow-private", "--secret-file", desk.path("webhook.secret")], expecting: 2)
    }

    // MARK: Signing keys

    private func rotate(_ desk: Desk) async throws {
        let keys = ["--keys", desk.path("keys")]
        let (root, publicRoot) = (desk.path("root.json"), desk.path("root-public.json"))
        func write(_ text: String, to name: String) throws -> String {
            try desk.folder.write(text.split(separator: "\n").last.map(String.init) ?? "", to: name)
        }
        _ = try write(try await desk.run("signing-key root create", [root]), to: "root-public.json")
        let first = try await desk.run("signing-key list", keys)
        try await desk.run("signing-key rotate", keys)
        var key = try write(try await desk.run("signing-key list", keys), to: "public.json")
        var statement = try write(
            try await desk.run("signing-key root sign", [root, "--key", key, "--days", "30"]), to: "statement.jwt")
        try await desk.run("signing-key install", keys + ["--root", publicRoot, statement])
        // The next key waits for the root.
        key = try write(try await desk.run("signing-key rotate", keys), to: "public.json")
        statement = try write(
            try await desk.run("signing-key root sign", [root, "--key", key, "--days", "30"]), to: "statement.jwt")
        try await desk.run("signing-key install", keys + [statement])
        let id = try #require(first.split(separator: " ").first.map(String.init))
        statement = try write(try await desk.run("signing-key root revoke", [root, id]), to: "revocations.jwt")
        try await desk.run("signing-key install", keys + [statement])
        let second = try #require(
            try await desk.run("signing-key list", keys).split(separator: "\n").dropFirst().first?
                .split(separator: " ").first.map(String.init))
        try await desk.run("signing-key revoke", keys + [second])
    }

    // MARK: Requests

    private func sync(_ body: String, at url: String) async throws -> Int? {
        var request = URLRequest(url: try #require(URL(string: url + "/v1/sync")))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }

    /// One that is free, because a local App Store has just let it go.
    private func freePort(_ desk: Desk) async throws -> Int {
        let store = try RunningCommand([
            "appstore", "run", "--folder", desk.path("first"), "--port", "0", "--world", desk.path("world.yaml"),
        ])
        let port = try #require(try await store.port(), "\(store.errors)")
        #expect(await store.end(by: SIGTERM) == 0)
        return port
    }
}
