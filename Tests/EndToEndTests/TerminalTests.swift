import CommandRunner
import Foundation
import Testing

private let colors = ["NO_COLOR": "", "TERM": "xterm"]

/// What commands write to a terminal, and not to a file: progress and colors.
@Suite struct `commands on a terminal` {
    @Test func `tenure rehearse shows its progress on a terminal, and removes it at the end`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let line = Data((try await testBed.appTransaction("1") + "\n").utf8)
        let pipe = testBed.folder.url("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let terminal = try PseudoTerminal()
        let command = try RunningCommand(
            ["rehearse", "--policy", policy, "--trust", testBed.authority, "--evidence", pipe, "--json"],
            errors: terminal.file)
        // Opening the pipe for writing waits for the reader. The pipe ends when the test closes it.
        let writer = try #require(FileHandle(forWritingAtPath: pipe))
        var isShown = false
        for _ in 0..<1500 {
            try writer.write(contentsOf: line)
            isShown = terminal.text.contains(" lines, ")
            if isShown { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(isShown, "\(terminal.text)")
        try writer.close()
        #expect(await command.ended() == 0)
        #expect(try await terminal.shows { $0.hasSuffix("\r\u{1B}[K") }, "\(terminal.text)")
        // Each state replaces the one before it, and standard output has only the report.
        let states = terminal.text.components(separatedBy: "\u{1B}[K").dropLast()
        #expect(states.allSatisfy { $0.hasPrefix("\r") && !$0.dropFirst().contains { $0.isNewline } })
        let report = try JSONSerialization.jsonObject(with: Data(command.output.utf8)) as? [String: Any]
        #expect((report?["customers"] as? [String: Int])?["total"] == 1)
    }

    @Test
    func `tenure rehearse shows no progress bar in a file, and writes nothing to standard error`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let evidence = try testBed.evidence([try await testBed.appTransaction("1")])
        let result = try await testBed.rehearse(policy, "--evidence", evidence)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    }

    @Test(arguments: [
        (colors, true), (["NO_COLOR": "1", "TERM": "xterm"], false),
        (["NO_COLOR": "", "TERM": "dumb"], false),
    ])
    func `output has colors on a terminal, unless NO_COLOR is set or the terminal has none`(
        environment: [String: String], hasColors: Bool
    ) async throws {
        let folder = try Folder()
        let policy = try folder.write("app: { bundleID: com.example.calculator }\n", to: "policy.yaml")
        let terminal = try PseudoTerminal()
        let command = try RunningCommand(
            ["policy", "check", policy], environment: environment, output: terminal.file)
        #expect(await command.ended() == 2)
        #expect(try await terminal.shows { $0.contains("policy.yaml: ") && $0.contains("error") })
        #expect(terminal.text.contains("\u{1B}[31m") == hasColors, "\(terminal.text)")
        #expect(terminal.text.contains("\u{1B}[0m") == hasColors)
    }

    @Test func `text in an artifact can't set colors on a terminal`() async throws {
        let folder = try Folder()
        let response =
            #"{"status":0,"receipt":{"bundle_id":"\u001b[32mverified\u001b[0m","\u001b[31mname":1}}"#
        let file = try folder.write(response, to: "response.json")
        let terminal = try PseudoTerminal()
        let command = try RunningCommand(["inspect", file], environment: colors, output: terminal.file)
        #expect(await command.ended() == 2)
        #expect(
            try await terminal.shows { $0.contains("verified") && $0.contains("name") },
            "\(terminal.text)")
        // The command's own words have colors.
        #expect(terminal.text.contains("\u{1B}[33munsigned\u{1B}[0m"))
        #expect(
            !terminal.text.contains("\u{1B}[32m") && !terminal.text.contains("\u{1B}[31m"),
            "\(terminal.text)")
    }
}
