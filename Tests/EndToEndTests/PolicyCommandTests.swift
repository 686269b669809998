import CommandRunner
import Foundation
import Testing

/// Commands that read or change the policy and the personas of a running service.
@Suite(.serialized) struct `commands with a service's key` {
    @Test func `options of tenure policy publish that contradict each other are wrong usage`() async throws {
        let folder = try Folder()
        let key = ["--key-file", folder.url("key").path]
        let cases: [(options: [String], words: String)] = [
            ([], "`--reason` is missing"), (["--reason", "r", "--take-from", "1"], "need --rehearsal"),
            (["--reason", "r", "--give-to", "1"], "need --rehearsal"),
            (["--reason", "r", "--rehearsal", "reh_x"], "at least one of them"),
            (["--reason", "r", "--rehearsal", "reh_x", "--take-from=-1"], "can't be negative"),
            (["--reason", "r", "--rehearsal", "reh_x", "--give-to=-1"], "can't be negative"),
        ]
        for (options, words) in cases {
            for command in [["publish", "policy.yaml"], ["rollback"]] {
                let result = try await Command.run(["policy"] + command + options + key)
                #expect(result.status == 64 && result.errors.contains(words), "\(command) \(options)")
            }
        }
        // A number of 0 is valid, so the command then reads the key.
        let zero = try await Command.run(
            ["policy", "rollback", "--reason", "r", "--rehearsal", "reh_x", "--take-from", "0"] + key)
        #expect(zero.status == 1, "\(zero.errors)")
        for keys in [[], key + ["--key", "tenure_key_x"]] {
            #expect(try await Command.run(["policy", "versions"] + keys).status == 64)
        }
    }

    @Test
    func `tenure policy show writes a version to a new file, and policy versions lists each with its losses and gains`()
        async throws
    {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let options = testBed.options(port)
        let early = try await testBed.appTransaction(of: "704000000000000001", version: "110")
        #expect(try await testBed.sync(early, to: port).outcome == "granted")
        let file = try testBed.write(PublishingTestBed.policy(boundary: "100"))
        let rehearsed = try await Command.run(["policy", "publish", file, "--rehearse", "--json"] + options)
        let id = try #require(try rehearsed.json()["id"] as? String)
        let published = try await Command.run(
            ["policy", "publish", file, "--reason", "r", "--take-from", "1", "--rehearsal", id, "--json"] + options)
        #expect(published.status == 0, "\(published.errors)")
        let publication = try published.json()
        #expect(publication["version"] as? Int == 2 && publication["losing"] as? Int == 1)

        let out = testBed.folder.url("shown.json").path
        let shown = try await Command.run(["policy", "show", "2", "--out", out] + options)
        #expect(shown.status == 0 && shown.output.isEmpty, "\(shown.errors)")
        let text = try testBed.folder.text("shown.json")
        let compiled = try await Command.run("policy", "compile", file).output
        #expect(text + "\n" == compiled)
        // The command refuses an existing file, and creates none for an unknown version.
        #expect(try await Command.run(["policy", "show", "1", "--out", out] + options).status == 1)
        #expect(try testBed.folder.text("shown.json") == text)
        #expect(try await Command.run(["policy", "show", "1", "--out", out, "--force"] + options).status == 0)
        #expect(try testBed.folder.text("shown.json") != text)
        let unknown = testBed.folder.url("unknown.json").path
        #expect(try await Command.run(["policy", "show", "99", "--out", unknown] + options).status == 1)
        #expect(!FileManager.default.fileExists(atPath: unknown))

        let listed = try await Command.run(["policy", "versions"] + options)
        let lines = listed.output.split(separator: "\n")
        #expect(listed.status == 0 && lines.count == 3, "\(listed.output)")
        #expect(lines.count { $0.contains("  0 gained, 1 lost, 1 promise ended  “r”") } == 1)
        #expect(lines.count { $0.contains("version 1  start") && !$0.contains("gained") } == 1)
        #expect(lines.last == "version 2 is in effect")
        let json = try await Command.run(["policy", "versions", "--json"] + options).json()
        #expect((json["publications"] as? [Any])?.count == 2)
        let versions = try #require(json["versions"] as? [[String: Any]])
        let current = versions.filter { $0["isCurrent"] as? Bool == true }.map { $0["version"] as? Int }
        #expect(versions.count == 2 && current == [2], "\(versions)")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `tenure persona create sets the platform and the end, and personas are listed after their revocation`()
        async throws
    {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let options = testBed.options(port)
        let create = ["persona", "create", "--name", "one"]
        for wrong in [
            ["--platform", "iOS", "--set", "originalPlatform=macOS"], ["--set", "=37"], ["--expires", "soon"],
        ] {
            let result = try await Command.run(create + wrong + options)
            #expect(result.status == 64 && result.output.isEmpty, "\(wrong)")
        }
        #expect(try await Command.run(["persona", "list"] + options).output.isEmpty)

        let day = try #require(
            Date(timeIntervalSinceNow: 10 * 86_400).formatted(.iso8601).split(separator: "T").first)
        let made = try await Command.run(
            create + ["--platform", "macOS", "--expires", String(day), "--json"] + options)
        #expect(made.status == 0, "\(made.errors)")
        let persona = try #require((try made.json()["personas"] as? [[String: Any]])?.first)
        #expect(persona["name"] as? String == "one" && (persona["token"] as? String)?.isEmpty == false)
        #expect(persona["set"] as? [String: String] == ["originalPlatform": "macOS"])
        let listed = try await Command.run(["persona", "list"] + options).output
        #expect(listed.hasPrefix("one  valid until \(day)T00:00:00Z  "), "\(listed)")
        #expect(listed.hasSuffix("(originalPlatform macOS)\n"), "\(listed)")

        let taken = try await Command.run(create + options)
        #expect(taken.status == 1 && taken.output.isEmpty && taken.errors.contains("--replace"), "\(taken.errors)")
        #expect(try await Command.run(create + ["--replace"] + options).status == 0)
        #expect(try await Command.run(["persona", "revoke", "one"] + options).status == 0)
        let ended = try await Command.run(["persona", "list"] + options).output.split(separator: "\n")
        #expect(!ended.isEmpty && ended.allSatisfy { $0.hasPrefix("one  revoked 20") }, "\(ended)")
        #expect(await service.end(by: SIGTERM) == 0)
    }
}
