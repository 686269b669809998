import CommandRunner
import Foundation
import Testing

/// `tenure policy compile` and `tenure policy test`: their exit codes, and what they write.
@Suite struct `commands for policy files` {
    private static let cases = """
        now: 2015-07-01
        cases:
          - name: an owner
            app: { originalAppVersion: "37", originalPurchaseDate: 2014-05-01 }
            expect: { everything: granted }
          - name: a newcomer
            app: { originalAppVersion: "130", originalPurchaseDate: 2015-06-20 }
            expect: { everything: OUTCOME }
        """
    private static let wrongPolicy = TestBed.policy.replacingOccurrences(of: "honors: [paid]", with: "honors: [payed]")

    @Test func `tenure policy compile exits with 2 for a policy with mistakes, and writes nothing`() async throws {
        let folder = try Folder()
        let wrong = try folder.write(Self.wrongPolicy, to: "wrong.yaml")
        let out = folder.url("tenure.json").path
        for options in [[], ["--out", out]] {
            let result = try await Command.run(["policy", "compile", wrong] + options)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.errors.contains("wrong.yaml:") && result.errors.contains("`payed`"), "\(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: out))
        let missing = try await Command.run("policy", "compile", folder.url("none.yaml").path, "--out", out)
        #expect(missing.status == 1 && missing.errors.contains("there is no file"))
        #expect(try await Command.run("policy", "compile").status == 64)
    }

    @Test func `tenure policy compile reads standard input, and writes the same JSON to standard output and to a file`()
        async throws
    {
        let folder = try Folder()
        let policy = try folder.write(TestBed.policy, to: "policy.yaml")
        let out = folder.url("tenure.json").path
        let file = try await Command.run("policy", "compile", policy, "--out", out)
        #expect(file.status == 0 && file.output.isEmpty && file.errors.isEmpty)
        let printed = try await Command.run("policy", "compile", "-", input: Data(TestBed.policy.utf8))
        let compiled = try folder.text("tenure.json")
        #expect(printed.status == 0 && printed.output == compiled + "\n")
        // The file isn't replaced by accident.
        let again = try await Command.run("policy", "compile", policy, "--out", out)
        #expect(again.status == 1 && again.errors.contains("already exists"))
        let same = try await Command.run("policy", "compile", policy, "--out", policy, "--force")
        #expect(same.status == 1 && same.errors.contains("which this command reads"), "\(same.errors)")
        #expect(try folder.text("policy.yaml") == TestBed.policy)
    }

    @Test
    func `tenure policy test exits with 0 if all cases pass, with 2 for differences and mistakes, otherwise with 1`()
        async throws
    {
        let folder = try Folder()
        let policy = try folder.write(TestBed.policy, to: "policy.yaml")
        func cases(_ outcome: String) throws -> String {
            try folder.write(Self.cases.replacingOccurrences(of: "OUTCOME", with: outcome), to: "cases.yaml")
        }
        let passed = try await Command.run("policy", "test", policy, try cases("denied"))
        #expect(passed.status == 0 && passed.output == "2 of 2 cases pass\n" && passed.errors.isEmpty)
        let failed = try await Command.run("policy", "test", policy, try cases("granted"))
        #expect(failed.status == 2 && failed.output.hasSuffix("1 of 2 cases pass\n") && failed.errors.isEmpty)
        let json = try await Command.run("policy", "test", "--json", policy, try cases("granted"))
        #expect(json.status == 2)
        let object = try json.json()
        #expect(object["passed"] as? Int == 1 && object["failed"] as? Int == 1)
        let results = try #require(object["cases"] as? [[String: Any]])
        #expect(results.map { $0["name"] as? String } == ["an owner", "a newcomer"])
        #expect(results.map { $0["passed"] as? Bool } == [true, false])
        #expect(results.map { ($0["differences"] as? [String])?.isEmpty } == [true, false])
        // The text names the failed case only, with the same differences.
        let place = try #require(results[1]["place"] as? String)
        let differences = try #require(results[1]["differences"] as? [String])
        let lines = ["failed \(place): a newcomer"] + differences.map { "  \($0)" } + ["1 of 2 cases pass", ""]
        #expect(failed.output == lines.joined(separator: "\n") && place.contains("cases.yaml:"))
        let mistake = try await Command.run("policy", "test", policy, try cases("allowed"))
        #expect(mistake.status == 2 && mistake.output.isEmpty)
        #expect(mistake.errors.contains("cases.yaml:"), "\(mistake.errors)")
        let wrong = try folder.write(Self.wrongPolicy, to: "wrong.yaml")
        let unsound = try await Command.run("policy", "test", wrong, try cases("denied"))
        #expect(unsound.status == 2 && unsound.output.isEmpty && unsound.errors.contains("wrong.yaml:"))
        #expect(try await Command.run("policy", "test", policy, folder.url("none.yaml").path).status == 1)
        #expect(try await Command.run("policy", "test", policy).status == 64)
    }
}
