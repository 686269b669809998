import CommandRunner
import Foundation
import PostgresServer
import Testing

/// How commands find the database of a service.
@Suite struct `commands that use a service's database` {
    private static let inspecting = [
        ["database", "check"], ["database", "dump"], ["database", "rebuild"], ["admin-key", "list"],
        ["webhook", "log", "--since", "2020-01-01"], ["database", "reopen"],
    ]

    private static let changing = [
        ["admin-key", "create", "--scope", "read", "--name", "ada"], ["admin-key", "revoke", "ada"],
        ["webhook", "log"], ["webhook", "replay", "--since", "2020-01-01"], ["database", "accept-keys"],
        ["database", "vacuum"], ["database", "backup", "copy.sqlite"],
        ["database", "migrate", "--to", "copy.sqlite"],
    ]

    /// A database that a service created.
    private static func served(_ database: String? = nil) async throws -> SoakTestBed {
        let testBed = try SoakTestBed(database: database)
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        return testBed
    }

    @Test(arguments: inspecting + changing)
    func `commands that use a service's database don't create a missing database`(command: [String]) async throws {
        let server = try PostgresServer.shared()
        let url = server.url("schema=mistyped_\(UInt32.random(in: .min ... .max))")
        let folder = try Folder()
        let command = command.map { $0 == "copy.sqlite" ? folder.url($0).path : $0 }
        for _ in 0..<2 where !["vacuum", "backup"].contains(command[1]) {
            let result = try await Command.run(command + ["--database", url])
            #expect(result.status == 1 && result.errors.contains("contains no Tenure database"), "\(result.errors)")
        }
        let file = folder.url("none.sqlite").path
        #expect(try await Command.run(command + ["--database", file]).status == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `commands that use a service's database read the service's configuration file and environment`()
        async throws
    {
        let url = try PostgresServer.shared().url("schema=config_\(UInt32.random(in: .min ... .max))")
        let testBed = try await Self.served(url)
        let file = testBed.folder.url("tenure.yaml").path
        let authority = testBed.folder.url("authority").path
        try testBed.folder.writeSecret(
            "database: '\(url)'\npolicy: policy.yaml\nkeys: .\ntrust: [authority]\n", to: "tenure.yaml")
        for command in Self.inspecting.dropLast() {
            let byFile = try await Command.run(command + ["--config", file])
            #expect(byFile.status == 0, "\(command): \(byFile.errors)")
            let byEnvironment = try await Command.run(
                command, environment: ["TENURE_DATABASE": url, "TENURE_TRUST": authority])
            #expect(byEnvironment.status == 0, "\(command): \(byEnvironment.errors)")
            #expect(byEnvironment.output == byFile.output)
            #expect(try await Command.run(command, environment: ["TENURE_CONFIG": file]).output == byFile.output)
        }
        // An option of the command has precedence over the configuration.
        let none = testBed.folder.url("none.sqlite").path
        let other = try await Command.run("database", "dump", "--config", file, "--database", none)
        #expect(other.status == 1 && other.errors.contains("there is no database at `\(none)`"))
        // A command with a configuration knows its app, and refuses another app's database.
        let notes = try SoakTestBed(bundleID: "com.example.notes")
        let (service, _) = try await notes.start()
        #expect(await service.end(by: SIGTERM) == 0)
        let refused = try await Command.run("database", "dump", "--config", file, "--database", notes.database)
        #expect(refused.status == 1 && refused.output.isEmpty)
        for name in ["com.example.notes", "com.example.calculator"] { #expect(refused.errors.contains("`\(name)`")) }
        let target = testBed.folder.url("target.sqlite").path
        let targetFile = try testBed.folder.write("database: target.sqlite\n", to: "target.yaml")
        let moved = try await Command.run("database", "migrate", "--config", file, "--to-config", targetFile)
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(try await Command.run("database", "dump", "--database", target).status == 0)
    }

    @Test func `commands that use a service's database select one of several apps with --app`() async throws {
        let testBed = try await Self.served()
        let file = try testBed.folder.write(
            "apps:\n  calculator: { policy: policy.yaml, database: tenure.sqlite, keys: . }\n", to: "tenure.yaml")
        let all = try await Command.run("database", "dump", "--config", file)
        #expect(all.status == 1 && all.errors.contains("`--app` (calculator)"), "\(all.errors)")
        let one = try await Command.run("database", "dump", "--config", file, "--app", "calculator")
        #expect(one.status == 0, "\(one.errors)")
        #expect(one.output == (try await testBed.databaseCommand("dump").output))
        let none = try await Command.run("database", "dump", "--config", file, "--app", "notes")
        #expect(none.status == 1 && none.errors.contains("the apps are calculator"), "\(none.errors)")
    }

    @Test func `commands that use a service's database are refused if the configuration has mistakes`() async throws {
        let testBed = try await Self.served()
        let file = try testBed.folder.write("databse: shop.sqlite\nport: 70000\n", to: "tenure.yaml")
        let copy = testBed.folder.url("copy.sqlite").path
        let commands = [
            ["database", "dump"], ["admin-key", "list"], ["webhook", "log"], ["database", "backup", copy],
        ]
        for command in commands {
            for database in [[], ["--database", testBed.database]] {
                let result = try await Command.run(
                    command + database + ["--config", file], environment: ["TENURE_LOG_LEVEL": "loud"])
                #expect(result.status == 1 && result.output.isEmpty, "\(command): \(result.errors)")
                for (place, words) in [
                    ("\(file):1:1: ", "`databse`"), ("\(file):2:7: ", "`70000`"), ("$TENURE_LOG_LEVEL: ", "`loud`"),
                ] {
                    let lines = result.errors.split(separator: "\n").filter { $0.contains(place) }
                    #expect(lines.count == 1 && lines.first?.contains(words) == true, "\(result.errors)")
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test func `commands don't print a database URL with an unknown scheme`() async throws {
        let testBed = try await Self.served()
        let url = "mysql://db.example.com/shop?user=root&password=p4ss/word"
        let commands =
            Self.inspecting.map { $0 + ["--database", url] } + [
                ["admin-key", "create", "--scope", "read", "--name", "ada", "--database", url],
                ["database", "backup", "--database", url, "copy"], ["database", "restore", "--database", url, "copy"],
                ["database", "migrate", "--database", url, "--to", "copy"],
                ["database", "migrate", "--database", testBed.database, "--to", url],
                ["serve", "--policy", testBed.policy, "--keys", testBed.folder.path, "--database", url, "--port", "0"],
                ["serve", "--check", "--policy", testBed.policy, "--keys", testBed.folder.path, "--database", url],
                ["rehearse", "--policy", testBed.policy, "--database", url],
            ]
        for command in commands {
            let result = try await Command.run(command)
            #expect(result.status == 1, "\(command)")
            #expect(result.errors.contains("is a URL of an unknown kind"), "\(command): \(result.errors)")
            for word in ["db.example.com", "p4ss", "mysql"] {
                #expect(!(result.output + result.errors).contains(word), "\(command): \(result.errors)")
            }
        }
    }
}
