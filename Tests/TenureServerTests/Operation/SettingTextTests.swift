import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import TenureServer

/// The exact messages about wrong settings, and how the settings of several apps are combined.
@Suite struct `the texts about settings` {
    private func setting(_ name: String) throws -> Setting {
        try #require(Setting.all.first { $0.name == name }, "\(name)")
    }

    @Test func `each wrong value in the environment and the options is reported with its place, name and fix`() throws {
        var values = SettingValues()
        let unknown = values.read(environment: [
            "TENURE_PORT": "70000", "TENURE_LOG_LEVEL": "loud", "TENURE_ENVIRONMENTS": "production, moon,mars",
            "TENURE_WEBHOOKS": "x", "TENURE_NEW_DATABASE": "true", "TENURE_APSS": "1",
        ])
        func noSetting(_ name: String) -> String {
            "there is no setting `\(name)`; unset it, or see `tenure serve --help` for the names"
        }
        // Structures belong in a file, and some options exist only on the command line.
        #expect(unknown == ["TENURE_APSS", "TENURE_NEW_DATABASE", "TENURE_WEBHOOKS"].map(noSetting))
        try values.read(arguments: ["--behind-proxy=", "--check=maybe", "--host", "", "--metrics", "some"])
        values.set(try setting("port"), to: [], at: "tenure.yaml:3")
        values.set(.webhooks, to: ["x"], at: "tenure.yaml:4")
        values.addMistake("another mistake")
        let choices = "must be one of production, sandbox, xcode; found"
        #expect(
            values.mistakes == [
                "$TENURE_PORT: `port` must be a whole number from 0 to 65535; found `70000`",
                "$TENURE_ENVIRONMENTS: `environments` \(choices) `moon`",
                "$TENURE_ENVIRONMENTS: `environments` \(choices) `mars`",
                "$TENURE_LOG_LEVEL: `logLevel` must be one of trace, debug, info, notice, warning, error; found `loud`",
                "--behind-proxy: `behindProxy` is empty; remove it, or write a value",
                "--check: `check` must be true or false; found `maybe`",
                "--host: `host` is empty; remove it, or write a value",
                "--metrics: `metrics` must be one of guarded, open, off; found `some`",
                "tenure.yaml:3: `port` has no value",
                "tenure.yaml:4: `webhooks` must be a mapping or a list, not text; see Docs/configuration.md",
                "another mistake",
            ])
        // No wrong value is used, not even a list with one valid element.
        let options = try #require(ServeOptions(values))
        #expect(options.environments == ["production", "sandbox"] && options.proxies == [] && !options.isCheck)
    }

    @Test(arguments: [
        (["--prot", "1"], "there is no setting `--prot`; `tenure serve --help` lists all settings"),
        (["--prot=1"], "there is no setting `--prot=1`; `tenure serve --help` lists all settings"),
        (["--port", "1", "x"], "there is no setting `x`; `tenure serve --help` lists all settings"),
        (["--webhooks", "x"], "there is no setting `--webhooks`; `tenure serve --help` lists all settings"),
        (["--port"], "`--port` needs a value after it"),
        (["--log-level", "--port", "1"], "`--log-level` needs a value after it"),
    ])
    func `wrong usage of an option is an error that names the option`(arguments: [String], words: String) {
        let error = #expect(throws: SettingValues.UsageError.self) {
            var values = SettingValues()
            try values.read(arguments: arguments)
        }
        #expect(error?.description == words)
    }

    @Test func `a value after an equals sign may have further equals signs, and a flag takes no value after a space`()
        throws
    {
        var values = SettingValues()
        try values.read(arguments: ["--check", "--content-s3-endpoint=https://a=b", "--port", "1", "--port=2"])
        try values.read(arguments: ["--test-anchors-beyond-loopback=false"])
        let options = try #require(ServeOptions(values))
        #expect(values.mistakes == [])
        #expect(options.isCheck && options.s3.endpoint == "https://a=b" && options.configuration.port == 2)
        #expect(!options.configuration.allowsTestAnchorsBeyondLoopback)
        #expect(values.isSet(try setting("testAnchorsBeyondLoopback")) && !values.isSet(.database))
        #expect(values.text(.database) == "tenure.sqlite")
    }

    @Test(arguments: [
        ("logFormat", "auto, text, json"), ("transfer", "never, newest, share"),
        ("content.s3.urlStyle", "path, virtual-host"), ("environments", "production, sandbox, xcode"),
    ])
    func `a setting with a choice of names lists them if the value is another one`(name: String, names: String) throws {
        let kind = try setting(name).kind
        #expect(kind.objection(to: "x") == "must be one of \(names); found `x`")
        for choice in names.components(separatedBy: ", ") { #expect(kind.objection(to: choice) == nil) }
    }

    @Test func `each of several apps has its own value of these settings, and all others exist once`() {
        let ofApp = [
            "policy", "database", "keys", "environments", "trust", "adminKeyFile", "transfer", "deviceLimit",
            "appStore.issuerID", "appStore.keyID", "appStore.privateKeyFile", "appStore.hosts.production",
            "appStore.hosts.sandbox", "content.folder", "content.linkLifetime", "content.s3.endpoint",
            "content.s3.region", "content.s3.bucket", "content.s3.prefix", "content.s3.accessKeyID",
            "content.s3.secretAccessKeyFile", "content.s3.sessionTokenFile", "content.s3.urlStyle", "webhooks",
            "expiringDays", "webhookRetentionDays", "rateLimits.perAddress", "rateLimits.addressBurst",
            "rateLimits.perToken", "rateLimits.tokenBurst", "limits.bodySize",
        ]
        #expect(Setting.ofApp.map(\.name) == ofApp)
        let fixed = [
            "host", "port", "tls.certificate", "tls.key", "behindProxy", "testAnchorsBeyondLoopback", "clock", "apps",
            "metrics", "logLevel", "logFormat", "limits.bodyRate", "limits.connections",
            "limits.connectionsPerAddress", "timeouts.head", "timeouts.body", "timeouts.response", "timeouts.idle",
            "timeouts.shutdown",
        ]
        #expect(Setting.fixed.map(\.name) == fixed)
        #expect(Setting.all.filter(\.isForCommandOnly).map(\.name) == ["config", "check", "newDatabase"])
    }

    @Test func `an app's own values override the common values, and its webhooks replace the common webhooks`() throws {
        var (common, app) = (SettingValues(), SettingValues())
        common.set(.policy, to: ["common.yaml"], at: "file")
        common.set(.trust, to: ["a.pem", "b.pem"], at: "file")
        common.set(try setting("host"), to: ["::"], at: "file")
        common.webhooks = [.local(1)]
        common.apps = [(name: "calculator", values: app)]
        app.set(.policy, to: ["own.yaml"], at: "file")
        app.set(.trust, to: ["c.pem"], at: "file")
        app.set(try setting("deviceLimit"), to: ["5"], at: "file")
        app.webhooks = [.local(2)]
        let all = common.overlaid(by: app)
        #expect(all.text(.policy) == "own.yaml" && all.list(.trust) == ["c.pem"])
        #expect(all.text(named: "host") == "::" && all.text(named: "deviceLimit") == "5")
        #expect(all.webhooks.map(\.url) == app.webhooks.map(\.url) && all.apps.isEmpty)
        #expect(common.text(.policy) == "common.yaml" && common.webhooks.count == 1 && common.apps.count == 1)
        let one = common.overlaid(by: app, only: [.policy])
        #expect(one.text(.policy) == "own.yaml" && one.list(.trust) == ["a.pem", "b.pem"])
        #expect(one.text(named: "deviceLimit") == nil)
    }

    @Test func `the files of the settings are the paths, the keys beside the database, and the webhooks' secrets`()
        throws
    {
        var values = SettingValues()
        #expect(values.files == [])
        values.secretFilesOfWebhooks = ["/hooks/secret"]
        values.set(.adminKeyFile, to: ["/etc/admin.key"], at: "file")
        values.set(.policy, to: ["/etc/policy.yaml"], at: "file")
        #expect(values.files == ["/etc/policy.yaml", "/etc/admin.key", "/hooks/secret"])
        values.set(.database, to: ["/data/tenure.sqlite"], at: "file")
        let beside = ["/data/signing-key.json", "/data/access-token.secret"]
        #expect(values.files == ["/etc/policy.yaml", "/etc/admin.key"] + beside + ["/hooks/secret"])
        values.set(.keys, to: ["/keys"], at: "file")
        let own = ["/keys/signing-key.json", "/keys/access-token.secret"]
        #expect(values.files == ["/etc/policy.yaml", "/keys", "/etc/admin.key"] + own + ["/hooks/secret"])
        #expect(SettingValues.keys(in: "") == ["signing-key.json", "access-token.secret"])
    }

    @Test func `each mistake in the settings of a bucket names its setting, the wrong value and the fix`() {
        var s3 = S3Settings(region: "", bucket: "", accessKeyID: "", secretAccessKeyFile: "")
        s3.endpoint = "http://example.com"
        s3.prefix = "/a"
        #expect(
            s3.mistakes == [
                "`content.s3.region` is missing; set it to the bucket's region, such as `eu-central-1`",
                "`content.s3.bucket` is missing; set it to the name of the bucket with the published files",
                "`content.s3.accessKeyID` is missing; set it to the ID of a key that may read the bucket",
                """
                `content.s3.secretAccessKeyFile` is missing; set it to a file with the secret of the access key, mode \
                600
                """,
                "`content.s3.prefix` must not begin or end with a slash; found `/a`",
                "`content.s3.endpoint` must be `https://` with a host and no path; found `http://example.com`",
            ])
        s3 = S3Settings(region: "a/b", bucket: "a~b", accessKeyID: "i", secretAccessKeyFile: "f")
        s3.endpoint = "http://127.0.0.1:9000"
        #expect(
            s3.mistakes == [
                "`content.s3.region` must have only letters, digits, `-`, `.` and `_`; found `a/b`",
                "`content.s3.bucket` must have only letters, digits, `-`, `.` and `_`; found `a~b`",
            ])
        s3 = S3Settings(region: "eu", bucket: "a.b_c-1", accessKeyID: "i", secretAccessKeyFile: "f")
        s3.prefix = "a/b"
        #expect(s3.mistakes == [] && s3.endpointURL?.absoluteString == "https://s3.eu.amazonaws.com")
        var content = ContentSettings(folder: "")
        content.s3 = s3
        content.linkLifetime = 7 * 86_400 + 1
        #expect(
            content.mistakes == [
                .content("`content.folder` is empty; set it to the published folder"),
                .content("`content.linkLifetime` is longer than 7 days, the limit of presigned URLs; shorten it"),
            ])
    }

    @Test func `each mistake in the settings of the App Store names its setting and the fix`() {
        var settings = AppStoreSettings(issuerID: "", keyID: "", privateKeyFile: "")
        func mistake() -> String? { settings.mistake?.description }
        let start = "the App Store can't be called: `appStore."
        #expect(mistake() == start + "issuerID` is empty; copy it from above the list of keys in App Store Connect")
        settings.issuerID = "i"
        #expect(mistake() == start + "keyID` is empty; copy it from beside the key in App Store Connect")
        settings.keyID = "k"
        #expect(mistake() == start + "privateKeyFile` is empty; set it to the path of the key's .p8 file")
        settings.privateKeyFile = "f"
        #expect(mistake() == nil)
        let noURL = "isn't a URL; write it as https://api.storekit.apple.com"
        let noHTTPS = "isn't an https URL; write it as https://api.storekit.apple.com"
        for (host, words) in [
            ("", noURL), ("ftp://127.0.0.1", noHTTPS),
            ("https://ada@example.com", "may only have a name, a port and a path; remove the rest"),
            ("https://example.com?x=1", "may only have a name, a port and a path; remove the rest"),
            ("http://example.com", "would get tokens without encryption; use https"),
        ] {
            settings.hosts = AppStoreHosts()
            settings.hosts.sandbox = host
            #expect(mistake() == start + "hosts.sandbox` is invalid: `\(host)` \(words)")
            settings.hosts.production = host
            #expect(mistake() == start + "hosts.production` is invalid: `\(host)` \(words)")
        }
        var hosts = AppStoreHosts()
        hosts.production = "http://127.0.0.1:1/"
        #expect(hosts.url(of: .production) == "http://127.0.0.1:1")
        #expect(hosts.url(of: .sandbox) == "https://api.storekit-sandbox.apple.com" && hosts.url(of: .xcode) == nil)
    }

    @Test func `a clock, a webhook setting or a database that isn't allowed is refused with the fix`() async throws {
        try await withFolder { folder in
            try FileClock.set(folder + "/clock", to: Calculator.now)
            let clock = try FileClock(path: folder + "/clock")
            func mistakes(_ change: (inout ServiceConfiguration) -> Void) throws -> [ServiceError] {
                var configuration = try Calculator.configuration(folder)
                change(&configuration)
                return configuration.mistakes
            }
            let local = ServiceError.clock(
                "the clock is only for tests on this machine; set `host` to 127.0.0.1, and remove `behindProxy`")
            let tests = ServiceError.clock(
                "the clock is only for tests; set `trust` to the test authority that signs the tests' artifacts")
            #expect(
                try mistakes {
                    $0.clock = clock
                    $0.host = "0.0.0.0"
                }.first == local)
            #expect(
                try mistakes {
                    $0.clock = clock
                    $0.anchors[.sandbox] = .apple
                } == [tests])
            #expect(
                try mistakes { $0.webhookSettings.retentionDays = 3 } == [
                    .failed("`webhookSettings.retentionDays` must be from 4 to 3650; found 3")
                ])
            let list = """
                the database is given as a list of PostgreSQL options; write a URL such as `postgresql://…`
                """
            #expect(
                try mistakes {
                    $0.databasePath = "host=db user=ada"
                    $0.keysFolder = "/tmp"
                } == [.database(list)])
        }
    }

    @Test func `the help has each setting's value, variable and default, and says which may be repeated`() {
        let help = Setting.help(width: 200).components(separatedBy: "\n  --")
        for entry in [
            "port <number>\n      the port to listen on; 0 takes any free port (TENURE_PORT; default: 8080)",
            "check\n      print every mistake in the configuration, or what the service would do, and exit",
            """
            environment <production|sandbox|xcode>
                  the App Store environments from which the service accepts data (TENURE_ENVIRONMENTS; default: \
            production, sandbox; may be repeated)
            """,
            """
            trust <file>
                  certificates to trust in addition to Apple's roots; for xcode, the certificate of your Xcode \
            (TENURE_TRUST; may be repeated)
            """,
            "apps-default <app>\n      which of several apps also answers the routes without `/apps/NAME` "
                + "(TENURE_APPS_DEFAULT)",
            "content-link-lifetime <length>\n      how long a download link works; with S3 at most 7d "
                + "(TENURE_CONTENT_LINK_LIFETIME; default: 24h)",
        ] {
            #expect(help.contains(entry), "\(entry)")
        }
        #expect(help.first == "  --config <file>\n      a configuration file, in YAML or JSON (TENURE_CONFIG)")
    }

    @Test func `the keys are beside the database file unless another folder is set`() async throws {
        try await withFolder { folder in
            var configuration = try Calculator.configuration(folder)
            #expect(configuration.folderOfKeys == folder && configuration.databaseFile == folder + "/tenure.sqlite")
            #expect(!configuration.hasSigningKey)
            _ = try SigningKeyStore(folder: folder).readOrCreate(at: Calculator.now)
            #expect(configuration.hasSigningKey)
            configuration.databasePath = "tenure.sqlite"
            #expect(configuration.folderOfKeys == ".")
            configuration.keysFolder = "/keys"
            #expect(configuration.folderOfKeys == "/keys" && configuration.databaseFile == "tenure.sqlite")
            for database in ["postgres://db/shop", "host=db user=ada"] {
                configuration.databasePath = database
                #expect(configuration.databaseFile == nil, "\(database)")
            }
            configuration.limits.connections = 3
            #expect(configuration.connectionLimit == 3)
            #expect(!configuration.testAuthorities.isEmpty)
            configuration.anchors = [.production: .apple, .sandbox: .apple]
            #expect(configuration.testAuthorities == [])
        }
    }
}
