import CommandRunner
import Foundation
import Testing

/// No command overwrites a file that it reads, and it overwrites other files only with --force.
@Suite struct `output files` {
    private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func `tenure rehearse never replaces its input files, even with --force`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy() + "\nreleases: releases.csv\n", to: "policy.yaml")
        let releases = try testBed.write(
            "platform,build,date\niOS,37,2014-01-01\niOS,120,2015-06-10\n", to: "releases.csv")
        let old = try testBed.write(RehearsalTestBed.policy(), to: "old.yaml")
        let file = try testBed.evidence([try await testBed.appTransaction("1"), "rejected"])
        let (hard, soft) = (testBed.folder.url("hard").path, testBed.folder.url("soft").path)
        try #require(link(file, hard) == 0 && symlink(file, soft) == 0)
        let roots = testBed.authority + "/roots.pem"
        for output in [policy, releases, old, file, hard, soft, roots, testBed.folder.path + "/./evidence.ndjson"] {
            let before = try contents(output)
            for option in ["--report", "--rejected"] {
                let result = try await testBed.rehearse(
                    policy, "--against", old, "--evidence", file, option, output, "--force")
                #expect(result.status == 1 && result.errors.contains("which this command reads"), "\(output) \(result)")
                #expect(result.output.isEmpty)
                #expect(try contents(output) == before)
            }
        }
        let new = testBed.folder.url("new").path
        let twice = try await testBed.rehearse(
            policy, "--evidence", file, "--report", new, "--rejected", new, "--force")
        #expect(twice.status == 1 && twice.errors.contains("written twice"), "\(twice.errors)")
        #expect(!FileManager.default.fileExists(atPath: new))
        // The option is also refused if it names a link to a missing file.
        let dangling = testBed.folder.url("dangling").path
        try #require(symlink(new, dangling) == 0)
        let linked = try await testBed.rehearse(
            policy, "--evidence", file, "--report", dangling, "--rejected", new, "--force")
        #expect(linked.status == 1 && linked.errors.contains("written twice"), "\(linked.errors)")
        for option in ["--report", "--rejected"] {
            let dash = try await testBed.rehearse(policy, "--evidence", file, option, "-", "--force")
            #expect(dash.status == 1 && dash.errors.contains("isn't an output file"), "\(dash.errors)")
        }
    }

    @Test func `tenure rehearse never writes its report over the SQLite database or its log files`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let database = testBed.folder.url("tenure.sqlite").path
        try await createDatabase(database)
        for end in ["", "-wal", "-shm", "-journal"] {
            if !end.isEmpty { _ = try testBed.write("log", to: "tenure.sqlite\(end)") }
            let before = try contents(database + end)
            let result = try await testBed.rehearse(
                policy, "--database", database, "--report", database + end, "--force")
            #expect(result.status == 1 && result.errors.contains("which this command reads"), "\(end) \(result)")
            #expect(try contents(database + end) == before)
        }
    }

    @Test func `tenure rehearse never writes its report over the signing key in the database's folder`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let database = testBed.folder.url("tenure.sqlite").path
        try await createDatabase(database)
        let key = try testBed.folder.writeSecret("keys", to: "signing-key.json")
        let result = try await testBed.rehearse(policy, "--database", database, "--report", key, "--force")
        #expect(result.status == 1 && result.errors.contains("which this command reads"), "\(result)")
        #expect(try contents(key) == Data("keys".utf8))
    }

    @Test func `tenure database backup with --force replaces an earlier backup in the current folder`() async throws {
        let testBed = try await RehearsalTestBed()
        try FileManager.default.createDirectory(at: testBed.folder.url("data"), withIntermediateDirectories: true)
        let database = testBed.folder.url("data/tenure.sqlite").path
        try await createDatabase(database)
        for _ in 0..<2 {
            let result = try Tool.run(
                "/bin/sh",
                [
                    "-c", "cd \"$1\" && \"$2\" database backup --database \"$3\" tenure.sqlite --force", "sh",
                    testBed.folder.path, Command.executable.path, database,
                ])
            #expect(result.status == 0, "\(result.errors)")
            let backup = testBed.folder.url("tenure.sqlite").path
            let copied = try await Command.run("database", "dump", "--database", backup)
            let dump = try await Command.run("database", "dump", "--database", database)
            #expect(copied.status == 0 && copied.output == dump.output, "\(copied.errors)")
            // The next backup must replace all of this.
            try Data("an earlier backup that was damaged since".utf8).write(to: URL(fileURLWithPath: backup))
        }
    }

    @Test func `tenure rehearse replaces an existing file only with --force`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let file = try testBed.evidence(
            Array(repeating: try await testBed.appTransaction("1"), count: 30) + ["rejected"])
        let notes = try testBed.write("notes", to: "notes.txt")
        for option in ["--report", "--rejected"] {
            let refused = try await testBed.rehearse(policy, "--evidence", file, option, notes)
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("already exists") && refused.errors.contains("--force"))
            #expect(try contents(notes) == Data("notes".utf8))
            // The check happens before the evidence is opened.
            let early = try await testBed.rehearse(policy, "--evidence", "/nowhere", option, notes)
            #expect(early.errors.contains("already exists"))
        }
        let replaced = try await testBed.rehearse(policy, "--evidence", file, "--report", notes, "--force")
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(String(decoding: try contents(notes), as: UTF8.self).contains("</html>"))
        // No line is rejected, and the file of an earlier rehearsal is empty.
        let good = try testBed.evidence([try await testBed.appTransaction("1")], named: "good")
        #expect(try await testBed.rehearse(policy, "--evidence", good, "--rejected", notes, "--force").status == 0)
        #expect(try contents(notes).isEmpty)
    }

    @Test func `tenure rehearse writes rejected lines to a new file, even with --force`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let file = try testBed.evidence(
            Array(repeating: try await testBed.appTransaction("1"), count: 30) + ["rejected"])
        let usual = try testBed.write("notes", to: "evidence.ndjson.rejected.ndjson")
        for number in [2, 3] {
            let result = try await testBed.rehearse(policy, "--evidence", file, "--force")
            #expect(result.status == 0, "\(result.errors)")
            let name = (try result.json()["input"] as? [String: Any])?["rejectedFile"] as? String
            #expect(name == file + ".rejected-\(number).ndjson")
            #expect(try contents(try #require(name)).count > 20)
            // Only the owner may read what customers bought.
            let mode = try FileManager.default.attributesOfItem(atPath: try #require(name))[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        #expect(try contents(usual) == Data("notes".utf8))
    }

    @Test func `tenure rehearse writes to a device such as /dev/null, and doesn't replace it`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let file = try testBed.evidence(
            Array(repeating: try await testBed.appTransaction("1"), count: 30) + ["rejected"])
        let result = try await testBed.rehearse(
            policy, "--evidence", file, "--report", "/dev/null", "--rejected", "/dev/null")
        #expect(result.status == 0, "\(result.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/null")
        #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
    }

    @Test func `commands never replace the configuration file or a file named in it, even through a link`() async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "new.yaml")
        let database = testBed.folder.url("data/tenure.sqlite").path
        try FileManager.default.createDirectory(
            at: testBed.folder.url("data"), withIntermediateDirectories: true)
        try await createDatabase(database)
        let named = [
            try testBed.write(RehearsalTestBed.policy() + "\nreleases: releases.csv\n", to: "policy.yaml"),
            try testBed.write("platform,build,date\niOS,37,2014-01-01\n", to: "releases.csv"),
            try testBed.folder.writeSecret("whsec_0123456789abcdef0123456789abcdef", to: "hook"),
            try testBed.folder.writeSecret("key", to: "admin"), try testBed.folder.writeSecret("key", to: "tls.key"),
            try testBed.write("certificate", to: "tls.pem"), try testBed.folder.writeSecret("key", to: "appstore.p8"),
            try testBed.folder.writeSecret("keys", to: "data/signing-key.json"),
            try testBed.folder.writeSecret("secret", to: "data/access-token.secret"),
            testBed.authority + "/roots.pem",
        ]
        let file = try testBed.folder.writeSecret(
            """
            policy: policy.yaml
            database: data/tenure.sqlite
            trust: [authority]
            adminKeyFile: admin
            tls: { certificate: tls.pem, key: tls.key }
            appStore: { privateKeyFile: appstore.p8 }
            webhooks: [{ name: shop, url: "https://shop.example.com/", secretFile: hook }]
            """, to: "tenure.yaml")
        let (hard, soft) = (testBed.folder.url("hard").path, testBed.folder.url("soft").path)
        try #require(link(file, hard) == 0 && symlink(file, soft) == 0)
        for output in [file, hard, soft] + named {
            let before = try contents(output)
            let rehearse = ["rehearse", "--policy", policy, "--report", output, "--force"]
            let commands: [(arguments: [String], environment: [String: String])] = [
                (rehearse + ["--config", file], [:]),
                (rehearse + ["--database", database], ["TENURE_CONFIG": file]),
                (["database", "backup", "--config", file, output, "--force"], [:]),
                (["database", "backup", output, "--force"], ["TENURE_CONFIG": file]),
                (["database", "restore", "--config", file, "--database", output, database], [:]),
            ]
            for (arguments, environment) in commands {
                let result = try await Command.run(arguments, environment: environment)
                #expect(
                    result.status == 1 && result.errors.contains("which this command reads"), "\(arguments) \(result)")
                #expect(try contents(output) == before)
            }
        }
        // Another file in the same folder is replaced.
        let old = try testBed.write("old", to: "data/copy.sqlite")
        let backup = try await Command.run("database", "backup", "--config", file, old, "--force")
        #expect(try backup.status == 0 && contents(old) != Data("old".utf8), "\(backup.errors)")
    }

    @Test func `commands for policies, minting and backups never overwrite inputs, and other files only with --force`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy() + "\nreleases: releases.csv\n", to: "policy.yaml")
        let releases = try testBed.write(
            "platform,build,date\niOS,37,2014-01-01\niOS,120,2015-06-10\n", to: "releases.csv")
        let key = testBed.folder.url("key.pem").path
        try #require(try await Command.run("policy", "signing-key", key).status == 0)
        let payload = try testBed.write("{}", to: "payload.json")
        let notes = try testBed.write("notes", to: "notes.txt")
        let database = testBed.folder.url("tenure.sqlite").path
        try await createDatabase(database)
        _ = try testBed.write("log", to: "tenure.sqlite-journal")
        let mint = ["mint", "app-transaction", "--authority", testBed.authority, "--payload", payload]
        let corpus = ["mint", "corpus", "--authority", testBed.authority, "--count", "1"]
        let commands: [(arguments: [String], option: String, inputs: [String])] = [
            (["policy", "compile", policy], "--out", [policy, releases]),
            (["policy", "sign", policy, "--key", key], "--out", [policy, releases, key]),
            (mint, "--out", [payload, testBed.authority + "/jws-leaf.key.pem"]),
            (["mint", "receipt", "--authority", testBed.authority], "--out", [testBed.authority + "/roots.pem"]),
            (corpus, "--out", [testBed.authority + "/roots.pem"]),
            (corpus + ["--out", testBed.folder.url("corpus").path], "--truth", [testBed.authority + "/roots.pem"]),
            (["policy", "show", "1", "--key-file", key], "--out", [key]),
        ]
        for (arguments, option, inputs) in commands {
            for input in inputs {
                let before = try contents(input)
                let result = try await Command.run(arguments + [option, input, "--force"])
                #expect(
                    result.status == 1 && result.errors.contains("which this command reads"), "\(arguments) \(result)")
                #expect(try contents(input) == before)
            }
            let result = try await Command.run(arguments + [option, notes])
            #expect(result.status == 1 && result.errors.contains("already exists"), "\(arguments) \(result)")
            #expect(try contents(notes) == Data("notes".utf8))
        }
        let backup = try await Command.run([
            "database", "backup", "--database", database, database + "-journal", "--force",
        ])
        #expect(backup.status == 1 && backup.errors.contains("which this command reads"), "\(backup)")
        let twice = try await Command.run(
            corpus + ["--out", testBed.folder.url("x").path, "--truth", testBed.folder.url("x").path])
        #expect(twice.status == 1 && twice.errors.contains("written twice"))
        let forced = try await Command.run(["policy", "compile", policy, "--out", notes, "--force"])
        #expect(try contents(notes) != Data("notes".utf8) && forced.status == 0, "\(forced.errors)")
    }
}
