import CommandRunner
import Foundation
import Testing

/// No command writes over a file that it reads, nor over another one unless it's told to.
@Suite struct `output files` {
    private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func `an input of a rehearsal is never replaced, by whatever name, not even with --force`() async throws {
        let desk = try await RehearsalDesk()
        let policy = try desk.write(RehearsalDesk.policy() + "\nreleases: releases.csv\n", to: "policy.yaml")
        let releases = try desk.write(
            "platform,build,date\niOS,37,2014-01-01\niOS,120,2015-06-10\n", to: "releases.csv")
        let old = try desk.write(RehearsalDesk.policy(), to: "old.yaml")
        let file = try desk.evidence([try await desk.appTransaction("1"), "rejected"])
        let (hard, soft) = (desk.folder.url("hard").path, desk.folder.url("soft").path)
        try #require(link(file, hard) == 0 && symlink(file, soft) == 0)
        let roots = desk.authority + "/roots.pem"
        for output in [policy, releases, old, file, hard, soft, roots, desk.folder.path + "/./evidence.ndjson"] {
            let before = try contents(output)
            for option in ["--report", "--rejected"] {
                let result = try await desk.rehearse(
                    policy, "--against", old, "--evidence", file, option, output, "--force")
                #expect(result.status == 1 && result.errors.contains("which this command reads"), "\(output) \(result)")
                #expect(result.output.isEmpty)
                #expect(try contents(output) == before)
            }
        }
        let new = desk.folder.url("new").path
        let twice = try await desk.rehearse(policy, "--evidence", file, "--report", new, "--rejected", new, "--force")
        #expect(twice.status == 1 && twice.errors.contains("written twice"), "\(twice.errors)")
        #expect(!FileManager.default.fileExists(atPath: new))
        // By a link to a file that isn't there yet, too.
        let dangling = desk.folder.url("dangling").path
        try #require(symlink(new, dangling) == 0)
        let linked = try await desk.rehearse(
            policy, "--evidence", file, "--report", dangling, "--rejected", new, "--force")
        #expect(linked.status == 1 && linked.errors.contains("written twice"), "\(linked.errors)")
        for option in ["--report", "--rejected"] {
            let dash = try await desk.rehearse(policy, "--evidence", file, option, "-", "--force")
            #expect(dash.status == 1 && dash.errors.contains("names no output file"), "\(dash.errors)")
        }
    }

    @Test func `an existing file is replaced only with --force, and before anything else is done`() async throws {
        let desk = try await RehearsalDesk()
        let policy = try desk.write(RehearsalDesk.policy(), to: "policy.yaml")
        let file = try desk.evidence(Array(repeating: try await desk.appTransaction("1"), count: 30) + ["rejected"])
        let notes = try desk.write("notes", to: "notes.txt")
        for option in ["--report", "--rejected"] {
            let refused = try await desk.rehearse(policy, "--evidence", file, option, notes)
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("already there") && refused.errors.contains("--force"))
            #expect(try contents(notes) == Data("notes".utf8))
            // Before the evidence is opened.
            let early = try await desk.rehearse(policy, "--evidence", "/nowhere", option, notes)
            #expect(early.errors.contains("already there"))
        }
        let replaced = try await desk.rehearse(policy, "--evidence", file, "--report", notes, "--force")
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(String(decoding: try contents(notes), as: UTF8.self).contains("</html>"))
        // Nothing is rejected, and what an earlier rehearsal rejected is gone.
        let good = try desk.evidence([try await desk.appTransaction("1")], named: "good")
        #expect(try await desk.rehearse(policy, "--evidence", good, "--rejected", notes, "--force").status == 0)
        #expect(try contents(notes).isEmpty)
    }

    @Test func `rejected lines go to a new file beside the evidence`() async throws {
        let desk = try await RehearsalDesk()
        let policy = try desk.write(RehearsalDesk.policy(), to: "policy.yaml")
        let file = try desk.evidence(Array(repeating: try await desk.appTransaction("1"), count: 30) + ["rejected"])
        let usual = try desk.write("notes", to: "evidence.ndjson.rejected.ndjson")
        for number in [2, 3] {
            let result = try await desk.rehearse(policy, "--evidence", file, "--force")
            #expect(result.status == 0, "\(result.errors)")
            let name = (try result.json()["input"] as? [String: Any])?["rejectedFile"] as? String
            #expect(name == file + ".rejected-\(number).ndjson")
            #expect(try contents(try #require(name)).count > 20)
        }
        #expect(try contents(usual) == Data("notes".utf8))
    }

    @Test func `a device is written to, and stays one`() async throws {
        let desk = try await RehearsalDesk()
        let policy = try desk.write(RehearsalDesk.policy(), to: "policy.yaml")
        let file = try desk.evidence(Array(repeating: try await desk.appTransaction("1"), count: 30) + ["rejected"])
        let result = try await desk.rehearse(
            policy, "--evidence", file, "--report", "/dev/null", "--rejected", "/dev/null")
        #expect(result.status == 0, "\(result.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/null")
        #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
    }

    @Test func `other commands keep their inputs and existing files too`() async throws {
        let desk = try await RehearsalDesk()
        let policy = try desk.write(RehearsalDesk.policy() + "\nreleases: releases.csv\n", to: "policy.yaml")
        let releases = try desk.write(
            "platform,build,date\niOS,37,2014-01-01\niOS,120,2015-06-10\n", to: "releases.csv")
        let key = desk.folder.url("key.pem").path
        try #require(try await Command.run("policy", "key", key).status == 0)
        let payload = try desk.write("{}", to: "payload.json")
        let notes = try desk.write("notes", to: "notes.txt")
        let database = desk.folder.url("tenure.sqlite").path
        try #require(
            try await Command.run(["key", "create", "--scope", "read", "--name", "a", "--database", database]).status
                == 0
        )
        _ = try desk.write("log", to: "tenure.sqlite-journal")
        let mint = ["mint", "app-transaction", "--authority", desk.authority, "--payload", payload]
        let corpus = ["mint", "corpus", "--authority", desk.authority, "--count", "1"]
        let commands: [(arguments: [String], option: String, inputs: [String])] = [
            (["policy", "compile", policy], "--out", [policy, releases]),
            (["policy", "sign", policy, "--key", key], "--out", [policy, releases, key]),
            (mint, "--out", [payload, desk.authority + "/jws-leaf.key.pem"]),
            (["mint", "receipt", "--authority", desk.authority], "--out", [desk.authority + "/roots.pem"]),
            (corpus, "--out", [desk.authority + "/roots.pem"]),
            (corpus + ["--out", desk.folder.url("corpus").path], "--truth", [desk.authority + "/roots.pem"]),
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
            #expect(result.status == 1 && result.errors.contains("already there"), "\(arguments) \(result)")
            #expect(try contents(notes) == Data("notes".utf8))
        }
        let backup = try await Command.run([
            "record", "backup", "--database", database, database + "-journal", "--force",
        ])
        #expect(backup.status == 1 && backup.errors.contains("which this command reads"), "\(backup)")
        let twice = try await Command.run(
            corpus + ["--out", desk.folder.url("x").path, "--truth", desk.folder.url("x").path])
        #expect(twice.status == 1 && twice.errors.contains("written twice"))
        let forced = try await Command.run(["policy", "compile", policy, "--out", notes, "--force"])
        #expect(try contents(notes) != Data("notes".utf8) && forced.status == 0, "\(forced.errors)")
    }
}
