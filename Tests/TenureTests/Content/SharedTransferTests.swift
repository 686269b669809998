import CommandRunner
import Foundation
import TenureContent
import TenureHTTP
import Testing

@testable import Tenure

/// The app and its extension, as separate processes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `An app and its extension` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(6_000_000), "samples/b.wav": ContentTestBed.bytes(2_000_000, seed: 2),
    ]
    private static let size = 8_000_000

    /// A published pack, and the folder that two processes share: an app and its extension.
    private struct Pair {
        let testBed: ContentTestBed
        let state: Folder
        let signal: String

        init() throws {
            // The right comes from the grace period: these processes have no store.
            testBed = try ContentTestBed(files, unlock: .entitlement("cloud"))
            state = try Folder()
            signal = state.url("go").path
        }

        func start(waiting: Bool = false) throws -> RunningCommand {
            try RunningCommand(
                ["content", state.path, testBed.server.url.absoluteString, testBed.keys[0], "piano"]
                    + (waiting ? [signal] : []), executable: Command.executable(named: "StateProcess"))
        }

        /// The files at the path that a process wrote when it was done.
        func contents(of process: RunningCommand) -> [String: Data] {
            let line = process.output.split(separator: "\n").last { $0.hasPrefix("done: ") }
            let root = line.map { String($0.dropFirst(6)) } ?? "/nowhere"
            var files: [String: Data] = [:]
            for name in FileManager.default.enumerator(atPath: root)?.compactMap({ $0 as? String }) ?? [] {
                if let data = FileManager.default.contents(atPath: root + "/" + name) { files[name] = data }
            }
            return files
        }

        /// A process that has a quarter of the pack, and one that waits for it. The server holds the rest.
        static func midway() async throws -> (pair: Pair, first: RunningCommand, second: RunningCommand) {
            let pair = try Pair()
            pair.testBed.server.hold(after: 2_000_000)
            let first = try pair.start()
            while pair.testBed.server.sent < 2_000_000 { try await Task.sleep(nanoseconds: 5_000_000) }
            let second = try pair.start()
            #expect(try await second.writes("downloading"))
            return (pair, first, second)
        }
    }

    @Test func `an app and its extension fetch nothing twice when both download at once`() async throws {
        let pair = try Pair()
        pair.testBed.server.hold(after: 2_000_000)
        let processes = [try pair.start(waiting: true), try pair.start(waiting: true)]
        for process in processes { #expect(try await process.writes("ready")) }
        try pair.state.write("", to: "go")
        for process in processes { #expect(try await process.writes("downloading"), "both show the progress") }
        pair.testBed.server.hold(after: nil)
        for process in processes {
            #expect(await process.ended() == 0)
            #expect(pair.contents(of: process) == Self.files, "\(process.output) \(process.errors)")
        }
        #expect(pair.testBed.server.sent < Self.size + 100_000)
    }

    @Test func `an extension continues the app's download while the app is suspended`()
        async throws
    {
        let (pair, first, second) = try await Pair.midway()
        first.signal(SIGSTOP)
        let before = pair.testBed.server.ranges.count
        pair.testBed.server.hold(after: nil)
        #expect(await second.ended() == 0)
        #expect(pair.contents(of: second) == Self.files, "\(second.output) \(second.errors)")
        first.signal(SIGCONT)
        #expect(await first.ended() == 0)
        #expect(pair.contents(of: first) == Self.files, "\(first.output) \(first.errors)")
        // Of the 2 MB that the first process has, nothing is requested again.
        let requested = pair.testBed.server.ranges.dropFirst(before).reduce(0) { sum, range in
            let bounds = range.split(separator: "-").compactMap { Int($0) }
            return bounds.count == 2 ? sum + bounds[1] - bounds[0] + 1 : sum
        }
        #expect(requested < Self.size - 1_500_000, "\(pair.testBed.server.ranges)")
    }

    @Test func `an extension continues the app's download after the app was killed`() async throws {
        let (pair, first, second) = try await Pair.midway()
        #expect(await first.end(by: SIGKILL) == SIGKILL)
        pair.testBed.server.hold(after: nil)
        #expect(await second.ended() == 0)
        #expect(pair.contents(of: second) == Self.files, "\(second.output) \(second.errors)")
        #expect(pair.testBed.server.sent < Self.size + 3_000_000)
    }

    @Test
    func `an app and its extension keep the list of installed packs valid, however often both start and are killed`()
        async throws
    {
        let pair = try Pair()
        pair.testBed.server.slowDown(2000)
        for round in 0..<6 {
            let processes = [try pair.start(), try pair.start()]
            try await Task.sleep(nanoseconds: UInt64(300_000_000 + round * 150_000_000))
            for process in processes { _ = await process.end(by: SIGKILL) }
        }
        pair.testBed.server.slowDown(0)
        let processes = [try pair.start(), try pair.start()]
        for process in processes {
            #expect(await process.ended() == 0)
            #expect(pair.contents(of: process) == Self.files, "\(process.output) \(process.errors)")
        }
    }

    @Test func `an extension sees at once that the app has installed a pack`() async throws {
        let pair = try Pair()
        let waiting = try pair.start(waiting: true)
        #expect(try await waiting.writes("ready"))
        let other = try pair.start()
        #expect(await other.ended() == 0)
        #expect(try await waiting.writes("installed"))
        try pair.state.write("", to: "go")
        #expect(await waiting.ended() == 0)
        #expect(pair.contents(of: waiting) == Self.files)
        #expect(pair.testBed.server.sent < Self.size + 100_000)
    }
}
