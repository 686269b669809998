import CommandRunner
import Foundation
import Testing

@testable import TenureCLI
@testable import TenureRehearsal

@Suite struct `rejected lines` {
    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras: [{ name: paid, model: paid }]
        entitlements: { everything: { honors: [paid] } }
        """

    private func rehearse(_ lines: String) async throws -> (report: [String: Any], file: String, entries: Int) {
        let folder = try Folder()
        let evidence = try folder.write(lines, to: "evidence.ndjson")
        try #require(try Tool.run("/usr/bin/env", ["gzip", evidence]).status == 0)
        let result = try await Command.run(
            "rehearse", "--policy", try folder.write(Self.policy, to: "policy.yaml"), "--evidence", evidence + ".gz",
            "--rejected", folder.url("rejected.ndjson").path, "--json")
        let file = try folder.text("rejected.ndjson")
        return (try result.json(), file, file.split(separator: "\n").count)
    }

    private func counted(_ report: [String: Any]) throws -> [String: Int] {
        let input = try #require(report["input"] as? [String: Any])
        return input["rejectedLinesByReason"] as? [String: Int] ?? [:]
    }

    @Test func `a rehearsal counts rejected lines beyond ten thousand, and doesn't write them`() async throws {
        let lines = String(repeating: "x\n", count: 30_000) + String(repeating: "{\"a\":1}\n", count: 15_000)
        let (report, file, entries) = try await rehearse(lines)
        #expect(try counted(report).values.reduce(0, +) == 45_000)
        #expect(try counted(report).values.sorted() == [15_000, 30_000])
        // The last line has the number of omitted lines.
        #expect(entries == 10_001)
        #expect(file.hasPrefix("{\"line\":1,"))
        #expect(file.split(separator: "\n").last?.contains("\"omitted\":35000") == true)
    }

    @Test func `rejected lines of a rehearsal beyond sixteen megabytes are counted and not written`() throws {
        let folder = try Folder()
        let file = BadLineFile(path: folder.url("rejected.ndjson").path)
        // A bidirectional character becomes six.
        let detail = String(repeating: "\u{202E}", count: 20_000)
        for line in 1...400 {
            try file.add(BadLine(line: line, fault: LineFault(.nothingSigned, detail), isWholeLine: true))
        }
        try file.close()
        let text = try folder.text("rejected.ndjson")
        let entries = text.split(separator: "\n")
        #expect(text.utf8.count <= 16_000_000 && text.utf8.count > 15_800_000)
        #expect(file.omitted == 401 - entries.count && file.omitted > 200)
        #expect(entries.last?.hasPrefix("{\"omitted\":\(file.omitted),") == true)
    }

    // The lines contain customers' artifacts.
    @Test func `rejected lines of a rehearsal are readable by their owner only`() throws {
        let folder = try Folder()
        let file = BadLineFile(path: folder.url("rejected.ndjson").path)
        try file.add(BadLine(line: 1, fault: LineFault(.nothingSigned, "x"), isWholeLine: true))
        try file.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url("rejected.ndjson").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `rejected lines of a rehearsal up to ten thousand are all written`() async throws {
        let (report, file, entries) = try await rehearse(String(repeating: "x\n", count: 10_000))
        #expect(entries == 10_000 && !file.contains("omitted"))
        #expect(try counted(report).values.reduce(0, +) == 10_000)
    }
}
