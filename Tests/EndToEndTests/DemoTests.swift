import CommandRunner
import Foundation
import Testing

/// The demo that `make run` starts.
@Suite(.serialized) struct DemoTests {
    private func runDemo(_ folder: Folder) async throws -> Command.Result {
        try await Command.run("demo", "--folder", folder.url("var").path, "--port", "0", "--once")
    }

    private func customers(_ result: Command.Result) -> [Substring] {
        result.output.split(separator: "\n").filter { $0.hasPrefix("  customer ") }
    }

    @Test func `tenure demo prints a sentence for each customer, and finds the same customers in a second run`()
        async throws
    {
        let folder = try Folder()
        let first = try await runDemo(folder)
        #expect(first.status == 0, "\(first.errors)")
        for sentence in [
            "“All features” is yours permanently: you got the app on May 1, 2014 (build 37), while it was sold for a price.",
            "around the time when it changed, so we decided in your favor.",
            "your purchase of the app was refunded or revoked on February 3, 2024",
            "in Sandbox, every tester counts as a new customer.",
        ] {
            #expect(first.output.contains(sentence))
        }
        #expect(customers(first).count == 8)
        // The customers in their order, each with the outcome for `everything`.
        let outcomes = first.output.matches(of: #/\n([A-Z][a-z]+): [^\n]+\n {2}everything ([a-z]+): /#)
        #expect(
            outcomes.map { "\($0.1) \($0.2)" } == [
                "Ada granted", "Boris granted", "Chen granted", "Dana denied", "Emre granted", "Fay denied",
                "Gus granted", "Hana denied",
            ], "\(first.output)")
        // A line for each customer with `everything`. The customer with only a receipt gets no link.
        let packs = first.output.matches(of: #/  may download: grand-piano\n/#).count
        let unbound = first.output.matches(of: #/  may download: nothing, because the receipt /#).count
        #expect(packs == 4 && unbound == 1)
        #expect(packs + unbound == first.output.matches(of: #/  everything granted: /#).count)
        let second = try await runDemo(folder)
        #expect(customers(second) == customers(first))
    }

    @Test func `tenure demo prints a link that downloads an asset pack`() async throws {
        let folder = try Folder()
        let demo = try RunningCommand(["demo", "--folder", folder.url("var").path, "--port", "0"])
        #expect(try await demo.writes("Ctrl-C stops the service"), "\(demo.errors)")
        let shown = try #require(demo.output.firstMatch(of: /"(http:\/\/127.0.0.1:[^"]+)"/))
        let archive = folder.url("grand-piano.tar").path
        let result = try Tool.run("/usr/bin/env", ["curl", "-sSf", "-o", archive, String(shown.1)])
        #expect(result.status == 0, "\(result.errors)")
        let listed = try Tool.run("/usr/bin/env", ["tar", "-tf", archive])
        #expect(listed.output.split(separator: "\n") == ["samples/a3.wav", "samples/a4.wav", "samples/a5.wav"])
        demo.signal(SIGINT)
        #expect(await demo.ended() == 0)
    }

    @Test func `tenure demo publishes a changed policy, unless a customer would lose something`() async throws {
        let folder = try Folder()
        func denials(_ output: String) -> Int { output.matches(of: /everything denied/).count }
        let first = try await runDemo(folder)
        #expect(first.status == 0)
        let sample = try String(contentsOf: folder.url("var/policy.yaml"), encoding: .utf8)
        func output(honoring honors: String) async throws -> String {
            try folder.write(sample.replacing("honors: [paid] ", with: "honors: \(honors) "), to: "var/policy.yaml")
            let result = try await runDemo(folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors == "")
            return result.output
        }
        let generous = try await output(honoring: "[paid, freemium]")
        #expect(generous.contains("is in effect as version 2"))
        #expect(denials(generous) < denials(first.output))
        let harsh = try await output(honoring: "[{ era: paid, until: 2020-01-01 }]")
        #expect(harsh.contains("wasn't published: ") && harsh.contains("would lose something"))
        #expect(denials(harsh) == denials(generous))
    }

    @Test(arguments: ["Ctrl-C stops the service", "serving com.example.calculator"])
    func `Ctrl-C stops tenure demo at once and silently, even while customers sync`(line: String) async throws {
        let folder = try Folder()
        let demo = try RunningCommand(["demo", "--folder", folder.url("var").path, "--port", "0"])
        #expect(try await demo.writes(line))
        demo.signal(SIGINT)
        #expect(await demo.ended() == 0)
        #expect(demo.errors == "")
    }

    @Test func `a failed start of tenure demo prints one line with the reason`() async throws {
        let folder = try Folder()
        try folder.write("in the way", to: "var")
        let unwritable = try await runDemo(folder)
        #expect(unwritable.status == 1)
        #expect(unwritable.errors.contains("can't be created"))
        #expect(unwritable.errors.split(separator: "\n").count == 1)

        let broken = try Folder()
        try FileManager.default.createDirectory(at: broken.url("var"), withIntermediateDirectories: true)
        try broken.write("eras: 3", to: "var/policy.yaml")
        let result = try await runDemo(broken)
        #expect(result.status == 1)
        #expect(result.errors.contains("policy.yaml:1:"))
    }
}
