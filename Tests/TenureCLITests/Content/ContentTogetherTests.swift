import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import Testing

/// Commands that run at the same time, or are killed.
@Suite(.timeLimit(.minutes(5))) struct `tenure content in several processes` {
    @Test func `of two tenure content publish commands at once, the second fails and the first completes`() async throws
    {
        let testBed = try await ContentTestBed()
        let (first, second) = try await Self.runTogether(testBed) {
            try RunningCommand([
                "content", "publish", testBed.folder.url("content.yaml").path, "--key", testBed.key, "--to",
                testBed.published,
            ])
        } isWriting: {
            ((try? testBed.names()) ?? []).contains { $0.hasPrefix(".unfinished-") }
        } second: {
            try await testBed.publish()
        }
        #expect(second.status == 1 && second.errors.contains("another `tenure content` command"), "\(second.errors)")
        let pruned = try await Command.run("content", "prune", testBed.published)
        #expect(pruned.status == 1)
        first.signal(SIGCONT)
        #expect(await first.ended() == 0)
        #expect(try testBed.catalog().catalog["grand-piano"]?.versions.first?.installedSize == 256 << 20 + 4)
        #expect(try await testBed.publish().status == 0)
    }

    @Test func `of two tenure content embed commands at once, the second fails and the first completes`() async throws {
        let testBed = try await ContentTestBed()
        let out = testBed.folder.url("embedded").path
        let (first, second) = try await Self.runTogether(testBed) {
            try RunningCommand(["content", "embed", testBed.folder.url("content.yaml").path, "--to", out])
        } isWriting: {
            try Self.unfinished(testBed).contains { name in
                (try? FileManager.default.contentsOfDirectory(atPath: testBed.folder.url(name).path)) ?? [] != []
            }
        } second: {
            try await testBed.run("embed", "--to", out)
        }
        #expect(second.status == 1 && second.errors.contains("another `tenure content` command"), "\(second.errors)")
        first.signal(SIGCONT)
        #expect(await first.ended() == 0, "\(first.errors)")
        try Self.expectWhole(out)
        #expect(try await testBed.run("embed", "--to", out).status == 0)
        #expect(try !Self.hasUnfinished(testBed))
    }

    @Test func `the embedded folder stays complete while tenure content embed runs or is killed`() async throws {
        let testBed = try await ContentTestBed()
        let out = testBed.folder.url("embedded").path
        #expect(try await testBed.run("embed", "--to", out).status == 0)
        for number in 0..<200 { try testBed.write("\(number)", to: "piano/many/\(number).txt") }
        // Reads without a pause.
        let watch = Watch(out + "/content.json")
        var kills = 0
        for round in 0..<24 {
            try testBed.write("round \(round)", to: "piano/samples/c4.wav")
            let command = try RunningCommand([
                "content", "embed", testBed.folder.url("content.yaml").path, "--to", out,
            ])
            guard round.isMultiple(of: 2) else {
                #expect(await command.ended() == 0)
                continue
            }
            for _ in 0..<2000 where try !Self.hasUnfinished(testBed) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(4 * round))
            if await command.end(by: SIGKILL) != 0 { kills += 1 }
            try Self.expectWhole(out)
        }
        #expect(kills > 0)
        let (looks, misses) = watch.end()
        #expect(looks > 1000 && misses == 0, "\(misses) of \(looks)")
        #expect(try await testBed.run("embed", "--to", out).status == 0)
        #expect(try !Self.hasUnfinished(testBed))
        #expect(try testBed.folder.text("embedded/grand-piano/samples/c4.wav") == "round 23")
    }

    /// Creates the state between the two steps of replacing a folder. Two steps are needed on systems that can't
    /// exchange two folders in one call.
    @Test func `tenure content embed puts back the folder that a killed run moved aside, with the user's own files`()
        async throws
    {
        let testBed = try await ContentTestBed()
        let out = testBed.folder.url("embedded").path
        #expect(try await testBed.run("embed", "--to", out).status == 0)
        try testBed.folder.write("mine", to: "embedded/notes.txt")
        try FileManager.default.moveItem(
            atPath: out, toPath: testBed.folder.url(".embedded.unfinished-7-old").path)
        let refused = try await testBed.run("embed", "--to", out)
        #expect(refused.status == 1 && refused.errors.contains("`notes.txt`"), "\(refused.errors)")
        #expect(try testBed.folder.text("embedded/notes.txt") == "mine")
        #expect(try !Self.hasUnfinished(testBed))
        try Self.expectWhole(out)
    }

    /// Publishes or embeds a large file twice at the same time. The second command runs while the first command, which
    /// has begun to write, is stopped by a signal. If the first command ends before the test can stop it, this function
    /// tries again with another file.
    private static func runTogether(
        _ testBed: ContentTestBed, first start: () throws -> RunningCommand, isWriting: () throws -> Bool,
        second: () async throws -> Command.Result
    ) async throws -> (first: RunningCommand, second: Command.Result) {
        var attempt: UInt8 = 0
        while true {
            attempt += 1
            try testBed.write(Data(repeating: attempt, count: 256 << 20), to: "piano/large.bin")
            let first = try start()
            for _ in 0..<3000 where try first.isRunning && !isWriting() { try await Task.sleep(for: .milliseconds(2)) }
            first.signal(SIGSTOP)
            let result = try await second()
            if first.isRunning || attempt == 10 { return (first, result) }
        }
    }

    /// Each file that `content.json` names is there, with its size.
    private static func expectWhole(_ folder: String) throws {
        let json = try Data(contentsOf: URL(fileURLWithPath: folder + "/content.json"))
        for pack in try EmbeddedContent(json: json).packs {
            for file in pack.files {
                let path = "\(folder)/\(pack.name)/\(file.path)"
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64
                #expect(size == file.size, "\(path)")
            }
        }
    }

    private static func hasUnfinished(_ testBed: ContentTestBed) throws -> Bool { try !unfinished(testBed).isEmpty }

    private static func unfinished(_ testBed: ContentTestBed) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path).filter { $0.contains(".unfinished-") }
    }

    /// Watches on a separate thread whether a file exists.
    private final class Watch: Sendable {
        private let state = Locked((isEnded: false, looks: 0, misses: 0))

        init(_ path: String) {
            Thread.detachNewThread { [state] in
                while !state.withLock({ $0.isEnded }) {
                    usleep(20)
                    let isThere = access(path, R_OK) == 0
                    state.withLock { state in
                        state.looks += 1
                        if !isThere { state.misses += 1 }
                    }
                }
            }
        }

        func end() -> (looks: Int, misses: Int) {
            state.withLock { state in
                state.isEnded = true
                return (state.looks, state.misses)
            }
        }
    }
}
