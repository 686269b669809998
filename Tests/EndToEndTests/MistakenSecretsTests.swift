import CommandRunner
import Foundation
import Testing

/// Commands don't print secrets that an operator wrote in the wrong place.
@Suite struct `secrets in the wrong place` {
    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras: [{ name: free, model: free }]
        entitlements: { everything: { products: [com.example.calculator.everything] } }

        """

    @Test(arguments: [
        "user=ada password=canary host=db.example.com", "host=db.example.com user=ada password = 'canary'",
        "dbname=canary",
    ])
    func `a list of options in place of the database's URL is refused, and isn't printed`(options: String)
        async throws
    {
        let folder = try Folder()
        let policy = try folder.write(Self.policy, to: "policy.yaml")
        let file = try folder.writeSecret("policy: policy.yaml\ndatabase: \"\(options)\"\nkeys: .\n", to: "tenure.yaml")
        let serve = ["serve", "--policy", policy, "--keys", folder.path, "--port", "0"]
        let commands: [(arguments: [String], environment: [String: String])] = [
            (["database", "check", "--database", options], [:]),
            (["database", "check"], ["TENURE_DATABASE": options]),
            (["database", "check", "--config", file], [:]),
            (["database", "migrate", "--database", policy, "--to", options], [:]),
            (["rehearse", "--policy", policy, "--database", options], [:]),
            (serve + ["--database", options], [:]), (serve + ["--database", options, "--check"], [:]),
            (serve + ["--check"], ["TENURE_DATABASE": options]), (["serve", "--config", file, "--check"], [:]),
        ]
        for (arguments, environment) in commands {
            let result = try await Command.run(arguments, environment: environment)
            #expect(result.status == 1, "\(arguments)")
            #expect(result.errors.contains("postgresql://…"), "\(arguments): \(result.errors)")
            #expect(!(result.output + result.errors).contains("canary"), "\(arguments): \(result)")
        }
        // Without quotes, the shell makes several arguments of it.
        let split = try await Command.run(serve + ["--database", "host=db", "password=canary", "--check"])
        #expect(split.status != 0 && !(split.output + split.errors).contains("canary"), "\(split)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test func `a webhook's secret in place of a policy isn't printed`() async throws {
        let folder = try Folder()
        let file = try folder.writeSecret("whsec_canary+Y2FuYXJ5/canary==\n", to: "webhook.secret")
        for arguments in [
            ["serve", "--policy", file, "--check"], ["serve", "--policy", file], ["policy", "compile", file],
            ["policy", "test", file, file],
            ["rehearse", "--policy", file, "--evidence", "/dev/null"],
        ] {
            let result = try await Command.run(arguments)
            #expect(result.status != 0, "\(arguments)")
            #expect(!(result.output + result.errors).contains("canary"), "\(arguments): \(result)")
        }
    }

    /// Files with a secret, as Tenure or OpenSSL writes them, also damaged.
    private static let secretFiles = [
        "tenure_key_canary4711\n", "canary4711/canary4711+canary\n", "- canary\n", #"{ "kid": "a", "key": "canary" }"#,
        "-----BEGIN PRIVATE KEY-----\ncanaryMIGHAgEAMBMGByq\nGSMcanary\n-----END PRIVATE KEY-----\n",
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\ncanaryMHcCAQ\n-----END EC PRIVATE KEY-----\n",
        """
        policy: policy.yaml
        database: postgresql://ada:canary@db.example.com/tenure
        webhooks: [{ name: shop, url: "https://example.com", secret: whsec_canary }]
        password: 'canary'

        """,
        "policy: policy.yaml\n\tsecret: canary\n", #"{ "policy": "policy.yaml", "secret": "canary }"#,
        "password: canary\npassword: \"canary\nsecret: canary\n",
    ]

    @Test(arguments: secretFiles)
    func `no message quotes a secret file that was given as a policy, test cases, packs or a release list`(text: String)
        async throws
    {
        let folder = try Folder()
        let file = try folder.writeSecret(text, to: "secret")
        let policy = try folder.write(Self.policy, to: "policy.yaml")
        let listing = try folder.write(Self.policy + "releases: secret\n", to: "listing.yaml")
        let packs = try folder.write("packs: {}\n", to: "content.yaml")
        for arguments in [
            ["policy", "check", file], ["policy", "check", file, "--json"],
            ["policy", "check", file, "--format", "sarif"], ["policy", "check", policy, "--releases", file],
            ["policy", "check", policy, "--against", file], ["policy", "check", listing], ["policy", "compile", file],
            ["policy", "test", file], ["policy", "test", file, policy], ["policy", "test", file, file],
            ["policy", "publish", file, "--rehearse", "--key-file", file],
            ["rehearse", "--policy", file, "--evidence", "/dev/null"],
            ["serve", "--policy", file, "--check"], ["serve", "--config", file, "--check"],
            ["content", "check", file], ["content", "check", packs, "--policy", file],
            ["content", "publish", file, "--policy", policy, "--key", file, "--to", "\(folder.path)/out"],
            ["scenario", "run", file],
        ] {
            let result = try await Command.run(arguments)
            #expect(result.status != 0, "\(arguments)")
            #expect(!(result.output + result.errors).contains("canary"), "\(arguments): \(result)")
        }
    }

    @Test func `the message about a file that isn't a policy says what the file looks like`() async throws {
        let folder = try Folder()
        for (text, look) in [
            (Self.secretFiles[0], "plain text"), (Self.secretFiles[2], "a list"),
            (Self.secretFiles[4], "a key or certificate (PEM)"), (Self.secretFiles[6], "a file of another kind"),
        ] {
            let file = try folder.writeSecret(text, to: "secret")
            let result = try await Command.run("policy", "check", file)
            #expect(
                result.output == """
                    \(file):1:1: error: this looks like \(look), not like a policy; check the path, or begin the file with `app: { bundleID: com.example.calculator }` [mistake]
                    \(file): 1 error

                    """)
        }
    }

    @Test func `messages redact secrets inside a policy, and quote other lines of a damaged policy`() async throws {
        let folder = try Folder()
        let secret = try folder.write(
            "app: whsec_canary\neras: [{ name: postgres://ada:canary@db, model: tenure_key_canary }]\n", to: "a.yaml")
        let result = try await Command.run("policy", "check", secret)
        #expect(result.status == 2 && !result.output.contains("canary"), "\(result.output)")
        #expect(result.output.contains("`whsec_<redacted>` isn't possible here"), "\(result.output)")
        for line in [
            "password: canary", "databasePassword: canary", "\"password\" : \"canary\"", "clientSecret:\n  canary",
            #"titles: "postgres:\/\/ada:canary@db""#, #"titles: "pass\u0077ord=canary""#, "titles: ada:canary@db/name",
            "titles: postgres:/ada:canary@db", #"titles: "postgres://ada:with a canary@db""#,
        ] {
            let file = try folder.write("\(Self.policy)\(line)\n", to: "line.yaml")
            let result = try await Command.run("policy", "check", file)
            #expect(result.status == 2 && !result.output.contains("canary"), "\(result.output)")
        }
        let damaged = try folder.write("eras: [{ name: paid\napp: ]\n", to: "b.yaml")
        let damage = try await Command.run("policy", "check", damaged)
        #expect(damage.output.contains(" | app: ]"), "\(damage.output)")
    }

    @Test(arguments: ["http://ada:canary@127.0.0.1:9", "https://canary@tenure.example.com/apps/one"])
    func `a password in the service's URL is refused, and isn't printed`(url: String) async throws {
        let folder = try Folder()
        let key = try folder.writeSecret("tenure_key_unused", to: "key")
        for command in [["persona", "list"], ["policy", "versions"], ["policy", "rollback", "--rehearse"]] {
            let result = try await Command.run(command + ["--service", url, "--key-file", key])
            #expect(result.status == 1 && result.errors.contains("contains a user or a password"), "\(result)")
            #expect(!(result.output + result.errors).contains("canary"), "\(result)")
        }
    }
}
