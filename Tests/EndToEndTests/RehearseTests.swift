import CommandRunner
import Foundation
import Testing

/// `tenure rehearse` and `tenure mint corpus`, as a developer runs them.
@Suite struct `tenure rehearse` {
    private let folder: Folder
    private let authority: String

    init() async throws {
        folder = try Folder()
        authority = folder.url("authority").path
        try #require(try await Command.run("mint", "authority", authority).status == 0)
    }

    private static func example(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Examples/rehearsal/\(name)").path
    }

    private func corpus(_ count: Int) async throws -> (file: String, truth: [String: Any]) {
        let (file, truth) = (folder.url("corpus.ndjson").path, folder.url("truth.json"))
        let result = try await Command.run(
            "mint", "corpus", "--authority", authority, "--count", "\(count)", "--seed", "4", "--out", file, "--truth",
            truth.path)
        try #require(result.status == 0, "\(result.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: truth))
        return (file, try #require(object as? [String: Any]))
    }

    private func arguments(_ more: String...) -> [String] {
        [
            "rehearse", "--policy", Self.example("policy.yaml"), "--against", Self.example("previous.yaml"), "--at",
            "2015-09-01", "--trust", authority,
        ] + more
    }

    @Test func `tenure rehearse gives the expected counts of minted customers from a file and from standard input`()
        async throws
    {
        let (file, truth) = try await corpus(1500)
        let page = folder.url("report.html").path
        let result = try await Command.run(arguments("--evidence", file, "--json", "--report", page))
        #expect(result.status == 0, "\(result.errors)")
        let report = try result.json()
        let input = try #require(report["input"] as? [String: Any])
        let customers = try #require(report["customers"] as? [String: Int])
        for name in ["lines", "blankLines", "usableLines"] { #expect(input[name] as? Int == truth[name] as? Int) }
        for name in ["rejectedLinesByReason", "rejectedArtifactsByReason"] {
            #expect(input[name] as? [String: Int] == truth[name] as? [String: Int])
        }
        #expect(customers["total"] == truth["customers"] as? Int)
        #expect(customers["losing"] == truth["losing"] as? Int)
        #expect(customers["gaining"] == truth["gaining"] as? Int)
        let expected = try #require(truth["entitlements"] as? [String: [String: [String: Int]]])
        let entitlements = try #require(report["entitlements"] as? [[String: Any]])
        #expect(Set(entitlements.compactMap { $0["name"] as? String }) == Set(expected.keys))
        for entitlement in entitlements {
            let name = try #require(entitlement["name"] as? String)
            for (key, count) in (expected[name]?["outcomes"] ?? [:]).merging(
                expected[name]?["changes"] ?? [:], uniquingKeysWith: +)
            {
                #expect(entitlement[key] as? Int == count, "\(name) \(key)")
            }
        }
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<svg"))

        let rejected = try String(contentsOfFile: file + ".rejected.ndjson", encoding: .utf8).split(separator: "\n")
        let bad = (input["rejectedLines"] as? Int ?? 0)
        #expect(rejected.count { $0.contains("the whole line is rejected") } == bad && bad > 20)

        let piped = try await Command.run(
            arguments("--evidence", "-", "--json", "--rejected", folder.url("bad").path),
            input: try Data(contentsOf: URL(fileURLWithPath: file)))
        #expect(try piped.json()["customers"] as? [String: Int] == customers)
    }

    @Test func `tenure rehearse exits with 2 if a --fail-if condition holds, and with 64 for wrong usage`() async throws
    {
        let (file, _) = try await corpus(300)
        let fails = try await Command.run(
            arguments("--evidence", file, "--fail-if", "lost>0", "--fail-if", "rejected>90%"))
        #expect(fails.status == 2)
        #expect(
            fails.output.contains("fails: the condition `lost>0`")
                && fails.output.contains("passes: `rejected>90%` isn't met"))
        #expect(fails.output.contains("customer 1") && !fails.output.contains("704000"))
        #expect(
            try await Command.run(arguments("--evidence", file, "--identify")).output.contains(
                "appTransactionID 704000"))

        #expect(try await Command.run(arguments("--evidence", file, "--fail-if", "loss>0")).status == 1)
        #expect(try await Command.run(arguments()).status == 64)
        #expect(try await Command.run(arguments("--evidence", file, "--database", "x")).status == 64)
        #expect(try await Command.run(arguments("--database", "x", "--rejected", "y")).status == 64)
        #expect(try await Command.run(arguments("--database", "x", "--incomplete")).status == 64)
        let output = file + ".output"
        let twice = try await Command.run(arguments("--evidence", file, "--report", output, "--rejected", output))
        #expect(twice.status == 1 && twice.errors.contains("`\(output)` would be written twice"), "\(twice.errors)")
        #expect(!FileManager.default.fileExists(atPath: output))
        #expect(try await Command.run(arguments("--evidence", "/nowhere")).errors.contains("`/nowhere` can't be read"))
        #expect(try await Command.run(arguments("--database", "/nowhere")).errors.contains("no database at `/nowhere`"))
    }

    @Test func `Ctrl-C makes tenure rehearse print the results so far, marked as partial`() async throws {
        let (file, _) = try await corpus(300)
        let pipe = folder.url("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let command = try RunningCommand(
            arguments("--evidence", pipe, "--json", "--rejected", folder.url("bad").path))
        // Opening the pipe for writing waits for the reader. The pipe ends only when the test closes it.
        let writer = try #require(FileHandle(forWritingAtPath: pipe))
        let lines = try Data(contentsOf: URL(fileURLWithPath: file))
        // A pipe holds 64 KB, so the command has read most of the lines when the last byte is written.
        try writer.write(contentsOf: lines)
        command.signal(SIGINT)
        #expect(await command.ended() == 130)
        try writer.close()
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(command.output.utf8)) as? [String: Any])
        #expect(report["partial"] as? Bool == true)
        #expect(((report["customers"] as? [String: Int])?["total"] ?? 0) > 0)
        #expect(command.errors.contains("stopping"))
    }

    @Test func `tenure rehearse reads customers of a test authority from a database only with --trust`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let client = SoakClient(port: port)
        for number in 0..<4 {
            let id = "70400000\(3_000_000_000 + number)"
            guard
                case .acknowledged(.sync) = try await client.sync(try testBed.appTransaction(of: id), [], of: id)
            else {
                Issue.record("a sync was refused")
                return
            }
        }
        #expect(await service.end(by: SIGTERM) == 0)
        let options =
            ["rehearse", "--policy", Self.example("policy.yaml"), "--json"] + ["--database", testBed.database]
        let none = try await Command.run(options).json()
        #expect((none["customers"] as? [String: Int])?["total"] == 0)
        let all = try await Command.run(options + testBed.trust).json()
        #expect((all["customers"] as? [String: Int])?["total"] == 4)
        #expect((all["input"] as? [String: Any])?["skipped"] as? Int == 0)
    }
}
