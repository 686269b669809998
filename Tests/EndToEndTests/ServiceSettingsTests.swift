import CommandRunner
import Foundation
import Logging
import TenureAppStore
import TenureCore
import TenureServer
import Testing

@testable import TenureCLI

/// The settings of `tenure serve`, read in the process of the tests: from a file, the environment and options.
@Suite struct `the settings of a service` {
    private let folder: Folder

    init() throws {
        folder = try Folder()
        for name in ["calculator", "notes"] {
            try folder.write(
                """
                app: { bundleID: com.example.\(name), appleID: 828838134 }
                eras: [{ name: free, model: free }]
                entitlements: { everything: { products: [com.example.\(name).everything] } }
                """, to: "\(name).yaml")
        }
    }

    /// Two apps, not in the order of their names.
    private static let apps = """
        apps:
          notes: { policy: notes.yaml, database: notes.sqlite }
          calculator: { policy: calculator.yaml, database: calculator.sqlite }
        """

    /// Options that a service with one app needs.
    private var options: [String] {
        ["--policy", path("calculator.yaml"), "--database", path("calculator.sqlite")]
    }

    private func path(_ name: String) -> String { folder.url(name).path }

    private func read(
        _ text: String, _ arguments: [String] = [], environment: [String: String] = [:], isReload: Bool = false
    ) throws -> ServiceSettings {
        let file = try folder.writeSecret(text, to: "tenure.yaml")
        return try ServiceSettings(
            arguments: ["--config", file] + arguments, environment: environment, isReload: isReload)
    }

    @Test func `each of several apps has its own settings over the common ones, in the order of the file`() throws {
        let (common, own) = (KeySecret().text, KeySecret().text)
        try folder.writeSecret(common + "\n", to: "admin.key")
        try folder.writeSecret(" \(own)\n", to: "notes.key")
        let settings = try read(
            """
            port: 4711
            adminKeyFile: admin.key
            deviceLimit: 7
            apps:
              notes: { policy: notes.yaml, database: notes.sqlite, adminKeyFile: notes.key, deviceLimit: 9 }
              calculator: { policy: calculator.yaml, database: calculator.sqlite, keys: elsewhere }
              default: calculator
            """)
        #expect(settings.mistakes.isEmpty && settings.warnings.isEmpty, "\(settings.mistakes) \(settings.warnings)")
        let apps = try #require(settings.apps)
        #expect(apps.defaultApp == "calculator" && apps.apps.map(\.name) == ["notes", "calculator"])
        let configurations = apps.apps.map(\.configuration)
        #expect(configurations.map(\.policy.app.bundleID) == ["com.example.notes", "com.example.calculator"])
        #expect(configurations.map(\.app.bundleID) == ["com.example.notes", "com.example.calculator"])
        #expect(configurations.map(\.databasePath) == [path("notes.sqlite"), path("calculator.sqlite")])
        #expect(configurations.map(\.keysFolder) == [path("keys/notes"), path("elsewhere")])
        #expect(configurations.map(\.adminKey) == [own, common] && configurations.map(\.deviceLimit) == [9, 7])
        #expect(configurations.map(\.port) == [4711, 4711])
        #expect(apps.common.adminKey == common && apps.common.deviceLimit == 7 && apps.common.port == 4711)
        #expect(settings.configuration?.policy.app.bundleID == "com.example.notes")
        #expect(apps.fixedSettings["port"] == ["4711"] && apps.fixedSettings["deviceLimit"] == nil)
    }

    @Test func `--new-database is for the apps without a database, and for every app if each has one`() async throws {
        func creates(_ arguments: [String], isReload: Bool = false) throws -> [Bool] {
            let apps = try #require(try read(Self.apps, arguments, isReload: isReload).apps)
            return apps.apps.map(\.configuration.createsDatabase)
        }
        let new = ["--new-database"]
        #expect(try creates([]) == [false, false])
        #expect(try creates(new) == [true, true])
        #expect(try creates(new, isReload: true) == [false, false])
        try await createDatabase(path("notes.sqlite"))
        #expect(try creates(new) == [false, true])
        #expect(try creates(new, isReload: true) == [false, false])
        try await createDatabase(path("calculator.sqlite"))
        #expect(try creates(new) == [true, true])
    }

    @Test func `a mistake in the configuration file has its position and says what to write`() throws {
        let file = path("tenure.yaml")
        let keys = "name, url, secretFile, events, eachCustomer, allowPrivate"
        let cases: [(String, [String])] = [
            ("webhooks: { a: b }", ["1:11: `webhooks` isn't a list; write `- name: …` below it"]),
            ("webhooks: [app]", ["1:12: a webhook isn't a mapping; write `name`, `url` and `secretFile`"]),
            (
                "webhooks: [{ name: a, secret: b }]",
                [
                    "1:23: a webhook has no `secret`; its keys are \(keys)",
                    "1:12: `url` of a webhook is missing or isn't a string; write it",
                    "1:12: `secretFile` of a webhook is missing or isn't a string; write it",
                ]
            ),
            (
                "webhooks: [{ name: a, url: u, secretFile: f, events: x, eachCustomer: sometimes }]",
                [
                    "1:54: `events` isn't a list; write types such as `[entitlement.granted]`",
                    "1:71: `eachCustomer` isn't a Boolean; write `true` or `false`",
                ]
            ),
            (
                "limits: 7",
                [
                    "1:9: `limits` must be a mapping with these settings: limits.bodySize, limits.bodyRate, limits.connections, limits.connectionsPerAddress"
                ]
            ),
            (
                "environments: [production, [sandbox]]",
                ["1:15: `environments` isn't a value or a list of values; see `tenure serve --help`"]
            ),
            ("port: [1]", ["1:7: `port` isn't a single value; see `tenure serve --help`"]),
            ("port:", ["1:6: `port` has no value; write one, or remove the setting"]),
            (
                "apps: { notes: 7 }", ["1:9: the app `notes` has no settings; it needs `policy` and `database`"]
            ),
            ("apps: { notes: { database: n.sqlite } }", ["1:9: the app `notes` needs `policy`"]),
            (
                "keys: k\n" + Self.apps,
                ["1:7: each app of `apps` has its own `keys`; move it below an app's name"]
            ),
            (
                "apps: 7", ["1:7: `apps` isn't a mapping; write each app's name, with its settings below it"]
            ),
        ]
        for (text, mistakes) in cases {
            let found = try read(text, text.contains("apps:") ? [] : options).mistakes
            #expect(found.filter { $0.hasPrefix(file + ":") } == mistakes.map { "\(file):\($0)" }, "\(found)")
        }
        for (text, words) in [
            ("", "`\(file)` has no settings; write a setting on each line, such as `port: 8081`"),
            ("- a", "`\(file)` has no settings; write a setting on each line, such as `port: 8081`"),
            ("port: 1\nport: 2", "`\(file)` isn't valid YAML: `port` is written twice"),
        ] {
            #expect(try read(text, options).mistakes == [words], "\(text)")
        }
        let damaged = try read("port: [pa55", options).mistakes
        #expect(damaged.count == 1 && damaged[0].hasPrefix("`\(file)` isn't valid YAML: "), "\(damaged)")
        #expect(damaged[0].contains(" in line ") && damaged[0].contains(", column ") && !damaged[0].contains("pa55"))
        let missing = try ServiceSettings(arguments: ["--config", "/none/tenure.yaml"] + options, environment: [:])
        #expect(missing.mistakes == ["there is no file `/none/tenure.yaml`; check the path"])
    }

    @Test func `a password in a configuration that others can read is a mistake, which doesn't repeat it`() throws {
        let (secret, plain) = ("postgres://ada:pa55@127.0.0.1/x", "postgres://ada@127.0.0.1/x")
        for (url, isOpen) in [(secret, true), (secret, false), (plain, true)] {
            let text = "policy: calculator.yaml\nkeys: .\ndatabase: \"\(url)\"\n"
            let file = try folder.write(text, to: "database.yaml")
            try FileManager.default.setAttributes([.posixPermissions: isOpen ? 0o644 : 0o600], ofItemAtPath: file)
            let mistakes = try ServiceSettings(arguments: ["--config", file], environment: [:]).mistakes
            let start =
                "\(file):3:11: `database` contains a password, and users other than the file's owner have access"
            #expect(mistakes.map { $0.hasPrefix(start) } == (isOpen && url == secret ? [true] : []), "\(mistakes)")
            #expect(!mistakes.joined().contains("pa55"))
        }
    }

    @Test func `settings that need another setting or a file are mistakes, each reported once`() throws {
        let policy = "there is no policy; set it with `--policy`, or with `policy` in the configuration"
        let settings = try read("port: 1", ["--database", path("calculator.sqlite")])
        #expect(settings.mistakes == [policy])
        let error = #expect(throws: CommandError.self) { try settings.validConfiguration() }
        #expect(error?.description == policy)
        // A missing file of the admin key isn't also reported as a missing admin key.
        let exposed = try read("adminKeyFile: none.key\nhost: 0.0.0.0\nbehindProxy: 10.0.0.0/8", options)
        #expect(exposed.mistakes.count == 1 && exposed.mistakes[0].contains(path("none.key")), "\(exposed.mistakes)")
        try folder.writeSecret(KeySecret().text, to: "admin.key")
        let proxies = try read("adminKeyFile: admin.key\nbehindProxy: [10.0.0.0/8, everyone, 127.0.0.1]", options)
        let words =
            "`everyone` in `behindProxy` isn't an address or a network; write one such as 127.0.0.1 or 10.0.0.0/8"
        #expect(proxies.mistakes == [words])
        #expect(proxies.configuration?.proxies.map(\.description) == ["10.0.0.0/8", "127.0.0.1/32"])
        let several = #expect(throws: CommandError.self) {
            try read("tls: { key: k }\nbehindProxy: everyone", ["--database", path("x.sqlite")]).validConfiguration()
        }
        #expect(
            several?.description
                == [policy, words, "`tls.key` needs its certificate; set it with `tls.certificate`"]
                .joined(separator: "\n"))
    }

    @Test func `a setting without effect is a warning, which names the app if there are several`() throws {
        func host(_ name: String) -> String {
            "`appStore.hosts.\(name)` has no effect without a key; set a key with `appStore.keyID`, or leave out `appStore.hosts.\(name)`"
        }
        let hosts = #"hosts: { sandbox: "http://127.0.0.1:9", production: "http://127.0.0.1:8" }"#
        let keyless = try read("appStore: { \(hosts) }", options)
        #expect(keyless.warnings == [host("production"), host("sandbox")] && keyless.configuration?.appStore == nil)
        let withKey = try read("appStore: { keyID: K, \(hosts) }", options)
        #expect(withKey.warnings.isEmpty && withKey.configuration?.appStore?.keyID == "K")
        #expect(withKey.configuration?.appStore?.hosts.production == "http://127.0.0.1:8")
        #expect(withKey.configuration?.appStore?.hosts.sandbox == "http://127.0.0.1:9")
        let apps = try read(
            """
            apps:
              notes: { policy: notes.yaml, database: notes.sqlite, content: { linkLifetime: 1h } }
              calculator: { policy: calculator.yaml, database: calculator.sqlite }
            """, environment: ["TENURE_PROT": "1"])
        #expect(
            apps.warnings == [
                "there is no setting `TENURE_PROT`; unset it, or see `tenure serve --help` for the names",
                "the app `notes`: `content.linkLifetime` has no effect without asset packs; set their folder with `content.folder`",
            ])
        #expect(try read("port: 1", options).warnings.isEmpty)
    }

    @Test func `each webhook has its own URL, secrets and flags`() throws {
        try folder.writeSecret("first-secret-0123456789\n", to: "hook-1")
        try folder.writeSecret("new-secret-0123456789\n\n old-secret-0123456789 \n", to: "hook-2")
        let settings = try read(
            """
            webhooks:
              - { name: shop, url: "https://shop.example.com/", secretFile: hook-1,
                  events: [entitlement.granted, policy.published], eachCustomer: false }
              - { name: books, url: "http://127.0.0.1:9/", secretFile: hook-2, allowPrivate: true }
            """, options)
        #expect(settings.mistakes.isEmpty, "\(settings.mistakes)")
        let expected = [
            Webhook(
                name: "shop", url: "https://shop.example.com/", secrets: ["first-secret-0123456789"],
                events: ["entitlement.granted", "policy.published"], eachCustomer: false, allowsPrivate: false),
            Webhook(
                name: "books", url: "http://127.0.0.1:9/",
                secrets: ["new-secret-0123456789", "old-secret-0123456789"], events: [], eachCustomer: true,
                allowsPrivate: true),
        ]
        #expect(settings.configuration?.webhooks == expected)
    }

    @Test func `the log has the level info and the format of the option, and JSON if it isn't on a terminal`() throws {
        func log(_ more: String...) throws -> ServiceSettings {
            try ServiceSettings(arguments: options + more, environment: [:])
        }
        #expect(try log().logLevel == .info && !log().isCheck)
        #expect(try log("--log-format", "json").logsJSON && !log("--log-format", "text").logsJSON)
        #expect(try log("--log-level", "debug", "--check").logLevel == .debug)
        #expect(try log("--check").isCheck)
    }
}
