import CommandRunner
import Foundation
import Testing

/// `tenure webhook`, beside a service that runs as a user runs it.
@Suite struct WebhookTests {
    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }, changeover: none }
        buildNumbers: increasing
        entitlements: { everything: { honors: [paid] } }
        """

    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write(Self.policy, to: "policy.yaml")
        try folder.write(String(repeating: "s", count: 32) + "\n", to: "webhook.secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.url("webhook.secret").path)
        return folder
    }

    /// Writes a configuration with a webhook that no server receives. Returns its path.
    private static func configuration(in folder: Folder) throws -> String {
        try folder.write(
            """
            policy: policy.yaml
            database: tenure.sqlite
            port: 0
            webhooks:
              - { name: app, url: "http://127.0.0.1:9/", secretFile: webhook.secret, allowPrivate: true }
            """, to: "tenure.yaml")
    }

    @Test func `an undelivered webhook message is logged with its attempts, and can be sent again`() async throws {
        let folder = try folder()
        let config = try Self.configuration(in: folder)
        let service = try RunningCommand(["serve", "--config", config])
        _ = try #require(try await service.port(), "\(service.errors)")
        func log() async throws -> String {
            try await Command.run(
                "webhook", "log", "--database", folder.url("tenure.sqlite").path, "--since", "2020-01-01"
            ).output
        }
        var seen = ""
        for _ in 0..<600 where !seen.contains("the endpoint refused the connection") { seen = try await log() }
        #expect(seen.contains("policy.published"))
        #expect(seen.contains("app: next attempt"))
        // Without an option, the log shows the last 24 hours.
        let lastDay = try await Command.run("webhook", "log", "--database", folder.url("tenure.sqlite").path)
        #expect(lastDay.status == 0 && lastDay.output.contains("policy.published"), "\(lastDay.errors)")
        let event = try #require(seen.split(separator: " ").first.map(String.init))
        let replay = try await Command.run(
            "webhook", "replay", "--database", folder.url("tenure.sqlite").path, "--event", event)
        #expect(replay.output == "1 delivery is queued\n" && replay.status == 0)
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
        let nothing = try await Command.run(
            "webhook", "replay", "--database", folder.url("tenure.sqlite").path, "--event", "evt_none")
        #expect(nothing.status == 1 && nothing.errors.contains("tenure webhook log"))
    }

    @Test func `tenure webhook log lists the latest messages up to --limit, or one message, or those since a date`()
        async throws
    {
        let folder = try folder()
        let config = try Self.configuration(in: folder)
        let database = ["--database", folder.url("tenure.sqlite").path]
        let service = try RunningCommand(["serve", "--config", config])
        let port = try #require(try await service.port(), "\(service.errors)")
        let key = folder.url("policy.key").path
        let made = try await Command.run(
            ["admin-key", "create", "--scope", "policy", "--name", "ada", "--out", key] + database)
        try #require(made.status == 0, "\(made.errors)")
        let wider = try folder.write(
            Self.policy.replacingOccurrences(
                of: "{ everything: { honors: [paid] } }",
                with: "{ everything: { honors: [paid] }, cloud: { products: [com.example.calculator.cloud] } }"),
            to: "wider.yaml")
        let published = try await Command.run(
            "policy", "publish", wider, "--reason", "r", "--key-file", key, "--service", "http://127.0.0.1:\(port)")
        try #require(published.status == 0, "\(published.errors)")
        #expect(await service.end(by: SIGTERM) == 0)

        func messages(_ options: String...) async throws -> [String] {
            let result = try await Command.run(["webhook", "log"] + database + options)
            #expect(result.status == 0, "\(result.errors)")
            // The lines about deliveries and attempts are indented.
            return result.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
        }
        let all = try await messages()
        #expect(all.count == 2 && all.allSatisfy { $0.hasSuffix("  policy.published") }, "\(all)")
        let dates = all.compactMap { $0.split(separator: " ", omittingEmptySubsequences: true).dropFirst().first }
        #expect(dates.count == 2 && dates[0] > dates[1], "the latest first")
        #expect(try await messages("--limit", "1") == [all[0]])
        #expect(try await messages("--limit", "2") == all)
        let event = try #require(all[1].split(separator: " ").first.map(String.init))
        #expect(try await messages("--event", event) == [all[1]])
        #expect(try await messages("--since", "2020-01-01") == all)
        let none = try await Command.run(["webhook", "log", "--since", "2999-01-01"] + database)
        #expect(none.status == 0 && none.output.isEmpty && none.errors == "no message matches `--event` or `--since`\n")
        let replayed = try await Command.run(["webhook", "replay", "--since", "2020-01-01"] + database)
        #expect(replayed.status == 0 && replayed.output == "2 deliveries are queued\n", "\(replayed.errors)")
        let unselected = try await Command.run(["webhook", "replay"] + database)
        #expect(unselected.status == 64 && unselected.errors.contains("no messages are selected"))
    }

    @Test func `serve reports a mistake in the webhooks' configuration with its line or the webhook's name`()
        async throws
    {
        let folder = try folder()
        let cases = [
            ("- { name: app, url: \"https://example.com/\" }", "tenure.yaml:3:5: `secretFile` of a webhook is missing"),
            (
                "- { name: app, url: \"https://example.com/\", secretFile: none }",
                "tenure.yaml:3:59: the key file `\(folder.url("none").path)` can't be used: there is no such file"
            ),
            (
                "- { name: app, secret: x, url: \"https://example.com/\", secretFile: webhook.secret }",
                "tenure.yaml:3:18: a webhook has no `secret`"
            ),
            (
                "- { name: app, url: \"https://example.com/\", secretFile: webhook.secret, events: [born] }",
                "the webhook `app` is invalid: there is no event `born`"
            ),
            ("{ name: app }", "tenure.yaml:3:3: `webhooks` isn't a list"),
            ("- app", "tenure.yaml:3:5: a webhook isn't a mapping"),
            (
                "- { name: app, url: \"https://example.com/\", secretFile: webhook.secret, events: entitlement.granted }",
                "tenure.yaml:3:83: `events` isn't a list"
            ),
            (
                "- { name: app, url: \"https://example.com/\", secretFile: webhook.secret, eachCustomer: sometimes }",
                "tenure.yaml:3:89: `eachCustomer` isn't a Boolean; write `true` or `false`"
            ),
            (
                "- { name: app, url: \"http://example.com/\", secretFile: webhook.secret }",
                "the webhook `app` is invalid: the URL of `example.com` has no TLS"
            ),
        ]
        for (webhook, words) in cases {
            let config = try folder.write("policy: policy.yaml\nwebhooks:\n  \(webhook)\n", to: "tenure.yaml")
            let database = folder.url("tenure.sqlite").path
            let result = try await Command.run("serve", "--config", config, "--database", database, "--port", "0")
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: database))
        }
    }

    @Test func `serve refuses settings without a value or of the wrong kind, with their line`() async throws {
        let folder = try folder()
        let cases = [
            ("port:", "tenure.yaml:2:6: `port` has no value; write one, or remove the setting"),
            ("tls: yes", "tenure.yaml:2:6: `tls` must be a mapping with these settings: tls."),
            ("port: [1, 2]", "tenure.yaml:2:7: `port` isn't a single value"),
            ("apps: { one: }", "tenure.yaml:2:9: the app `one` has no settings; it needs `policy` and `database`"),
            ("apps: []", "tenure.yaml:2:7: `apps` isn't a mapping"),
        ]
        for (line, words) in cases {
            let config = try folder.write("# settings\n\(line)\n", to: "tenure.yaml")
            let database = folder.url("tenure.sqlite").path
            let result = try await Command.run("serve", "--config", config, "--database", database)
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: database))
        }
        let missing = folder.url("none.yaml").path
        let result = try await Command.run("serve", "--config", missing)
        #expect(result.status == 1 && result.errors.contains("there is no file `\(missing)`"), "\(result.errors)")
    }

    @Test func `webhook log and replay refuse --event together with --since`() async throws {
        let database = try folder().url("tenure.sqlite").path
        for command in ["log", "replay"] {
            let result = try await Command.run(
                "webhook", command, "--database", database, "--event", "evt_1", "--since", "2020-01-01")
            #expect(result.status == 64 && result.errors.contains("exclude each other"), "\(result)")
        }
    }

    @Test func `tenure webhook test prints the result of a test message`() async throws {
        let folder = try folder()
        let secret = folder.url("webhook.secret").path
        func test(_ arguments: String...) async throws -> Command.Result {
            try await Command.run(["webhook", "test", "--secret-file", secret] + arguments)
        }
        let unreachable = try await test("--allow-private", "http://127.0.0.1:9/")
        #expect(unreachable.status == 2 && unreachable.output == "the endpoint refused the connection\n")
        let hidden = try await test("https://localhost/")
        #expect(hidden.status == 2 && hidden.output.contains("isn't public"))
        let plain = try await test("http://example.com/")
        #expect(plain.status == 1 && plain.errors.contains("has no TLS"))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK", 0, "delivered: the endpoint answered 200"),
        ("HTTP/1.1 299 Fine", 0, "delivered: the endpoint answered 299"),
        (
            "HTTP/1.1 300 Choices\r\nLocation: /other", 2,
            "the endpoint redirects (300), and redirects aren't followed; configure the URL to which it redirects"
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: /other", 2,
            "the endpoint redirects (302), and redirects aren't followed; configure the URL to which it redirects"
        ),
        (
            "HTTP/1.1 399 Else\r\nLocation: /other", 2,
            "the endpoint redirects (399), and redirects aren't followed; configure the URL to which it redirects"
        ),
        ("HTTP/1.1 400 Bad", 2, "the endpoint answered 400 instead of 2xx"),
        ("HTTP/1.1 404 Not Found", 2, "the endpoint answered 404 instead of 2xx"),
        (nil, 2, "the endpoint closed the connection without a response"),
    ])
    func `tenure webhook test prints the endpoint's answer, and succeeds only with a 2xx`(
        head: String?, status: Int, words: String
    ) async throws {
        let folder = try folder()
        let endpoint = try FixedAnswers(head.map { $0 + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" } ?? "")
        let result = try await Command.run(
            "webhook", "test", "--secret-file", folder.url("webhook.secret").path, "--allow-private",
            "http://127.0.0.1:\(endpoint.port)/hook")
        #expect(result.status == Int32(status), "\(result.errors)")
        #expect(result.output == words + "\n")
    }

    @Test func `a webhook's secret file that other users can read is refused`() async throws {
        let folder = try folder()
        let path = folder.url("webhook.secret").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let result = try await Command.run("webhook", "test", "https://example.com/", "--secret-file", path)
        #expect(result.status == 1 && result.errors.contains("chmod 600"))
        // systemd may give a service's secrets this mode.
        let kept = try await Command.run(
            ["webhook", "test", "https://example.invalid/", "--secret-file", path],
            environment: ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(!kept.errors.contains("chmod 600"), "\(kept.errors)")
    }
}
