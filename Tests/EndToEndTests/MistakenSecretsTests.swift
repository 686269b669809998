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
}
