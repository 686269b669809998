import CommandRunner
import Foundation
import Testing

/// What commands leave behind when they are killed while they write a file.
@Suite struct `killed commands` {
    private let folder: Folder
    private let authority: String

    init() async throws {
        folder = try Folder()
        authority = folder.url("authority").path
        try #require(try await Command.run("mint", "authority", authority).status == 0)
    }

    /// The names in the folder that begin with this one.
    private func names(_ start: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(start) }.sorted()
    }

    /// Starts a command, and waits until it has written a part of its output.
    private func begin(_ arguments: [String], writing name: String) async throws -> RunningCommand {
        let command = try RunningCommand(arguments)
        for _ in 0..<3000 where command.isRunning {
            let isWritten = try names(name).contains { name in
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder.url(name).path)
                return attributes?[.size] as? Int ?? 0 > 0
            }
            if isWritten { return command }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("nothing is written: \(command.errors)")
        return command
    }

    private func corpus(_ count: Int) -> [String] {
        ["mint", "corpus", "--authority", authority, "--count", "\(count)", "--out", folder.url("corpus.ndjson").path]
    }

    @Test func `tenure mint corpus leaves no incomplete file under its name when it is killed`() async throws {
        let command = try await begin(corpus(10_000_000), writing: "corpus")
        command.signal(SIGKILL)
        _ = await command.ended()
        #expect(!FileManager.default.fileExists(atPath: folder.url("corpus.ndjson").path))
        #expect(try names("corpus").count == 1)
        // The next run isn't blocked, and removes what is left.
        let next = try await Command.run(corpus(10))
        #expect(next.status == 0, "\(next.errors)")
        #expect(try names("corpus") == ["corpus.ndjson"])
        #expect(try folder.text("corpus.ndjson").split(separator: "\n").count >= 9)
    }

    @Test
    func `a command that removes leftovers keeps temporary files of running commands, and files with similar names`()
        async throws
    {
        for name in ["corpus.ndjson.2026.partial.txt", "corpus.ndjson.old.partial"] { try folder.write("", to: name) }
        let command = try await begin(corpus(10_000_000), writing: "corpus")
        let running = try names("corpus")
        let next = try await Command.run(corpus(10))
        #expect(next.status == 0, "\(next.errors)")
        #expect(try names("corpus") == (["corpus.ndjson"] + running).sorted())
        command.signal(SIGKILL)
        _ = await command.ended()
    }

    @Test func `tenure rehearse leaves no incomplete list of rejected lines when it is killed`() async throws {
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid] } }
            """, to: "policy.yaml")
        let pipe = folder.url("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let arguments = ["rehearse", "--policy", policy, "--evidence", pipe, "--rejected", folder.url("bad").path]
        let command = try RunningCommand(arguments)
        let writer = try #require(FileHandle(forWritingAtPath: pipe))
        try writer.write(contentsOf: Data(String(repeating: "x\n", count: 300_000).utf8))
        while command.isRunning, try names("bad").isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        command.signal(SIGKILL)
        _ = await command.ended()
        try writer.close()
        #expect(try names("bad").count == 1 && names("bad") != ["bad"])
        let lines = try folder.write("x\n", to: "lines")
        let next = try await Command.run(Array(arguments.dropLast(3)) + [lines, "--rejected", folder.url("bad").path])
        #expect(next.output.contains("1") && !next.errors.contains("already exists"), "\(next.errors)")
        #expect(try names("bad") == ["bad"])
    }
}
