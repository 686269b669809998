import CommandRunner
import Foundation
import Testing

/// Options that contradict each other, and values outside their limits.
@Suite struct `wrong usage of commands for scenarios` {
    @Test(arguments: [
        (
            ["run", "--service", "URL", "--folder", "x", "--policy", "p.yaml", "s.yaml"],
            "has its own policy"
        ),
        (["run", "--service", "URL", "s.yaml"], "needs the test authority"),
        (
            ["run", "--service", "URL", "--folder", "x", "--authority", "y", "s.yaml"],
            "needs the test authority"
        ),
        (["run", "--folder", "x", "s.yaml"], "is the folder of a running service"),
        (["run"], "Missing expected argument"),
    ])
    func `tenure scenario run refuses options that contradict each other`(
        arguments: [String], words: String
    ) async throws {
        let url = arguments.map { $0 == "URL" ? "http://127.0.0.1:1" : $0 }
        let result = try await Command.run(["scenario"] + url)
        #expect(
            result.status == 64 && result.output.isEmpty && result.errors.contains(words),
            "\(result.errors)")
    }

    @Test func `tenure scenario run needs a policy, from the scenario or from --policy`() async throws {
        let folder = try Folder()
        let story = """
            scenario: A buyer
            begins: 2026-01-10
            app:
              bundleID: com.example.calculator
              appleID: 828838134
              releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
            customers: { Ada: {} }
            """
        let file = try folder.write(story, to: "story.yaml")
        let missing = try await Command.run("scenario", "run", file)
        #expect(missing.status == 1 && missing.output.isEmpty)
        #expect(
            missing.errors == "error: `\(file)` doesn't name a policy; pass a policy with --policy\n",
            "\(missing.errors)")
        let wrong = try folder.write("app: { bundleID: com.example.calculator }\n", to: "policy.yaml")
        let unsound = try await Command.run("scenario", "run", "--policy", wrong, file)
        #expect(
            unsound.status == 1 && unsound.output.isEmpty && unsound.errors.contains("policy.yaml:"))
    }

    @Test
    func
        `tenure local-store run accepts a speed from 0 to ten million, and creates no folder for another`()
        async throws
    {
        let folder = try Folder()
        let store = folder.url("store").path
        for speed in ["-1", "fast", "10000001x", "x", "nan"] {
            let result = try await Command.run(
                "local-store", "run", "--folder", store, "--speed=\(speed)")
            #expect(result.status == 64, "\(speed): \(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: store))
        }
        // Without a scenario and without a state, there is nothing to run.
        let none = try await Command.run(
            "local-store", "run", "--folder", store, "--speed", "10000000x")
        let words = "has no local App Store yet; pass the scenario to begin with: --scenario FILE"
        #expect(none.status == 1 && none.errors == "error: the folder `\(store)` \(words)\n", "\(none.errors)")
    }

    @Test func `tenure prints its version, and an unknown command or option is wrong usage`()
        async throws
    {
        let version = try await Command.run("--version")
        #expect(
            version.status == 0 && version.output.wholeMatch(of: #/\d+\.\d+\.\d+\n/#) != nil,
            "\(version.output)")
        for wrong in [["fly"], ["policy", "fly"], ["decide", "--fly"], ["inspect", "a", "b"]] {
            let result = try await Command.run(wrong)
            #expect(result.status == 64 && result.output.isEmpty && !result.errors.isEmpty, "\(wrong)")
        }
        let help = try await Command.run("help", "decide")
        #expect(
            help.status == 0 && help.errors.isEmpty && help.output.contains("Exit codes: 0 all granted"))
    }
}
