import CommandRunner
import Foundation
import Testing

@Suite struct PolicyTests {
    @Test func `tenure policy check reports all mistakes of an invalid policy with their places`() async throws {
        let folder = try Folder()
        let sound = try folder.write(TestBed.policy, to: "sound.yaml")
        #expect(try await Command.run("policy", "check", sound).output.hasSuffix("\(sound): no mistakes\n"))

        let unsound = try folder.write(
            TestBed.policy.replacingOccurrences(of: "honors: [paid]", with: "honors: [payed]")
                .replacingOccurrences(of: "buildNumbers: increasing\n", with: ""), to: "unsound.yaml")
        let result = try await Command.run("policy", "check", "--json", unsound)
        #expect(result.status == 2)
        let json = try result.json()
        #expect(json["valid"] as? Bool == false)
        let mistakes = try #require(json["mistakes"] as? [[String: Any]])
        #expect(mistakes.count == 2)
        #expect(mistakes.allSatisfy { ($0["line"] as? Int ?? 0) > 0 && ($0["column"] as? Int ?? 0) > 0 })
    }

    @Test func `tenure decide gives the same result with a compiled policy as with its YAML`() async throws {
        let testBed = try await TestBed()
        let compiled = testBed.folder.url("tenure.json").path
        #expect(try await Command.run("policy", "compile", testBed.policy, "--out", compiled).status == 0)
        let owner = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        let byYAML = try await testBed.decide(owner)
        let byJSON = try await Command.run(
            "decide", "--policy", compiled, "--trust", testBed.authority, "--json", owner)
        #expect(byYAML.output == byJSON.output)
    }

    @Test func `tenure policy test names the case with an unexpected decision, and counts the cases that pass`()
        async throws
    {
        let testBed = try await TestBed()
        let cases = """
            now: 2015-07-01
            cases:
              - name: an owner
                app: { originalAppVersion: "37", originalPurchaseDate: 2014-05-01 }
                expect: { everything: granted }
              - name: a newcomer, with the wrong expectation
                app: { originalAppVersion: "130", originalPurchaseDate: 2015-06-20 }
                expect: { everything: granted }
            """
        let result = try await Command.run(
            "policy", "test", testBed.policy, try testBed.folder.write(cases, to: "cases.yaml"))
        #expect(result.status == 2)
        #expect(result.output.contains("a newcomer, with the wrong expectation"))
        #expect(result.output.hasSuffix("1 of 2 cases pass\n"))
    }

    @Test func `tenure policy test runs no case if one of them expects nothing`() async throws {
        let testBed = try await TestBed()
        let cases = """
            now: 2015-07-01
            cases:
              - name: an owner
                app: { originalAppVersion: "37", originalPurchaseDate: 2014-05-01 }
                expect: { everything: granted }
              - name: a newcomer
                app: { originalAppVersion: "130", originalPurchaseDate: 2015-06-20 }
            """
        let file = try testBed.folder.write(cases, to: "cases.yaml")
        let result = try await Command.run("policy", "test", testBed.policy, file)
        #expect(result.status == 2 && result.output.isEmpty, "\(result.output)")
        #expect(result.errors.contains(":6:5: `expect` is missing; write `expect: { everything: granted }`"))
    }

    @Test func `the policy cases in Tests/PolicyCases and Examples pass`() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
            .standardized.path
        let result = try await Command.run(
            "policy", "test", root + "/Tests/PolicyCases/policy.yaml", root + "/Tests/PolicyCases/cases.yaml")
        #expect(result.status == 0, "\(result.output)")
        let example = root + "/Examples/calculator/"
        #expect(try await Command.run("policy", "test", example + "policy.yaml", example + "cases.yaml").status == 0)
    }
}
