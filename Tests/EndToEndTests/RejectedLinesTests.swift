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

    @Test func `if gzip is killed, a rehearsal says that it counted only a part of the lines`() async throws {
        let folder = try Folder()
        let evidence = try folder.write(String(repeating: "x\n", count: 30_000), to: "evidence.ndjson")
        try #require(try Tool.run("/usr/bin/env", ["gzip", evidence]).status == 0)
        // In place of `gzip`: the first 1,000 bytes, then the signal that the system sends if memory runs out.
        let script = "#!/bin/sh\nPATH=/usr/bin:/bin gzip -dc | head -c 1000\nkill -KILL $$\n"
        let gzip = try folder.write(script, to: "gzip")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: gzip)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try await Command.run(
            [
                "rehearse", "--policy", try folder.write(Self.policy, to: "policy.yaml"),
                "--evidence", evidence + ".gz", "--rejected", folder.url("rejected.ndjson").path, "--json",
            ], environment: ["PATH": URL(fileURLWithPath: gzip).deletingLastPathComponent().path + ":" + path])
        let report = try result.json()
        #expect(report["partial"] as? Bool == true)
        #expect((report["problem"] as? String)?.contains("signal 9 ended `gzip`") == true, "\(result.output)")
        #expect(result.status == 1)
    }

    @Test func `a rehearsal counts all rejected lines, but writes only the first ten thousand`() async throws {
        let lines = String(repeating: "x\n", count: 30_000) + String(repeating: "{\"a\":1}\n", count: 15_000)
        let (report, file, entries) = try await rehearse(lines)
        #expect(try counted(report).values.reduce(0, +) == 45_000)
        #expect(try counted(report).values.sorted() == [15_000, 30_000])
        // The last line has the number of omitted lines.
        #expect(entries == 10_001)
        #expect(file.hasPrefix("{\"line\":1,"))
        #expect(file.split(separator: "\n").last?.contains("\"omitted\":35000") == true)
    }

    @Test func `the file of rejected lines ends at sixteen megabytes, with the number of omitted lines`() throws {
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
        #expect(file.omittedEntries == 401 - entries.count && file.omittedEntries > 200)
        #expect(entries.last?.hasPrefix("{\"omitted\":\(file.omittedEntries),") == true)
    }

    @Test func `two rehearsals at the same time write their rejected lines to two files`() throws {
        let folder = try Folder()
        let (name, otherName) = (folder.url("rejected.ndjson").path, folder.url("rejected-2.ndjson").path)
        let files = [BadLineFile(path: name), BadLineFile(path: name)]
        for (number, file) in files.enumerated() {
            try file.add(BadLine(line: number + 1, fault: LineFault(.nothingSigned, "x"), isWholeLine: true))
        }
        for file in files { try file.close(orAs: { otherName }) }
        #expect(files.map(\.path) == [name, otherName])
        #expect(try folder.text("rejected.ndjson").hasPrefix("{\"line\":1,"))
        #expect(try folder.text("rejected-2.ndjson").hasPrefix("{\"line\":2,"))
    }

    @Test
    func `tenure rehearse writes an output file through a symbolic link to the link's target, even a missing one`()
        throws
    {
        let folder = try Folder()
        let (link, target) = (folder.url("link").path, folder.url("target").path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        let file = try StreamedFile(path: link, replacing: true)
        try file.write(Array("x".utf8))
        try file.close()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
        #expect(try folder.text("target") == "x")
    }

    @Test func `an output file in a folder that can't be flushed is complete, and an error names the file`() throws {
        try withUnreadableFolder { folder in
            let path = folder + "/report"
            for replacing in [false, true] {
                let file = try StreamedFile(path: path, replacing: replacing)
                try file.write(Array("\(replacing)".utf8))
                let failure = #expect(throws: CommandError.self) { try file.close() }
                let words = failure.map { "\($0)" } ?? ""
                #expect(words.contains("can't flush the folder of `\(path)` (permission denied)"), "\(words)")
                #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(replacing)")
            }
        }
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

    @Test func `a rehearsal with ten thousand rejected lines writes all of them`() async throws {
        let (report, file, entries) = try await rehearse(String(repeating: "x\n", count: 10_000))
        #expect(entries == 10_000 && !file.contains("omitted"))
        #expect(try counted(report).values.reduce(0, +) == 10_000)
    }
}
