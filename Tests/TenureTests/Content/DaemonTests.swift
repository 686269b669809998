import CommandRunner
import Foundation
import Testing

@testable import Tenure

/// Separate processes: an app that hands its downloads over to a daemon, which continues while the app isn't running.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `Downloads by the system's daemon` {
    private static let part = 300_000
    private static let parts = 12

    /// An installed pack with an update in which every second file has changed, so that it fetches twelve ranges.
    private final class Scene {
        let testBed: ContentTestBed
        let files: [String: Data]
        let device: String
        let daemonFolder: String
        let daemon: RunningCommand
        let source: String

        init() async throws {
            var files: [String: Data] = [:]
            for number in 0..<2 * parts {
                files[String(format: "%02d.wav", number)] = ContentTestBed.bytes(part, seed: UInt64(number + 1))
            }
            testBed = try ContentTestBed(files)
            device = testBed.folder.path + "/phone"
            daemonFolder = testBed.folder.path + "/daemon"
            source = testBed.folder.path + "/expected"
            daemon = try RunningCommand(
                ["daemon", daemonFolder], executable: Command.executable(named: "ContentProcess"))
            let first = try ContentClient(device: device, from: testBed.server.url.absoluteString, key: testBed.keyText)
            try first.send("download")
            try await first.reaches(prefix: "installed")
            try await first.quit()
            for number in 0..<parts {
                files[String(format: "%02d.wav", number * 2)] = ContentTestBed.bytes(part, seed: UInt64(number + 1000))
            }
            self.files = files
            try testBed.publish(files)
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            for (name, data) in files { try data.write(to: URL(fileURLWithPath: source + "/" + name)) }
            testBed.server.resetCount()
        }

        deinit { daemon.signal(SIGKILL) }

        /// - Parameter stall: seconds without a byte after which the app takes a download back.
        func start(stall: Int = 3) throws -> ContentClient {
            try ContentClient(
                device: device, from: testBed.server.url.absoluteString, key: testBed.keyText,
                settings: ["daemon": daemonFolder, "stall": "\(stall)"])
        }

        /// Starts an update, and leaves the foreground when one range is here.
        func handOver(faults: [ContentServer.Fault] = [], stall: Int = 3) async throws -> ContentClient {
            // 800 KB a second.
            testBed.server.slowDown(20_000)
            let client = try start(stall: stall)
            try await client.reaches(prefix: "available")
            // Otherwise a busy machine may download all before the app has left the foreground.
            testBed.server.hold(after: part * 2)
            try client.send("download")
            try await client.reaches(bytes: Int64(part * 5 / 4))
            testBed.server.add(faults)
            try client.send("background")
            try await client.reaches(prefix: "handed over")
            testBed.server.hold(after: nil)
            return client
        }

        func names(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: daemonFolder + "/" + folder)) ?? []
        }

        /// Waits until so many downloads have bytes. Then the server holds all downloads.
        func daemonHasBytes(of count: Int) async throws {
            // Each download takes two seconds.
            testBed.server.slowDown(100_000)
            func hasBytes(_ name: String) -> Bool {
                let attributes = try? FileManager.default.attributesOfItem(atPath: daemonFolder + "/bodies/" + name)
                return (attributes?[.size] as? Int ?? 0) > 0
            }
            while names("bodies").filter(hasBytes).count < count { try await Task.sleep(nanoseconds: 5_000_000) }
            testBed.server.hold(after: 0)
        }

        /// Waits until the daemon has nothing left to do: then the system starts the app.
        func daemonIsDone() async throws {
            let end = Date().addingTimeInterval(60)
            while !names("queue").isEmpty, Date() < end { try await Task.sleep(nanoseconds: 20_000_000) }
            #expect(names("queue").isEmpty)
        }

        /// The bytes of the changed files.
        var total: Int { parts * part }
    }

    @Test func `downloads by the daemon go on while the app isn't running, and the app installs them when started`()
        async throws
    {
        let scene = try await Scene()
        let app = try await scene.handOver()
        await app.kill()
        scene.testBed.server.slowDown(0)
        try await scene.daemonIsDone()
        let sent = scene.testBed.server.sent
        let relaunched = try scene.start()
        try relaunched.send("events")
        try await relaunched.reaches(line: "handled")
        try await relaunched.reaches(prefix: "installed")
        #expect(try await relaunched.comparison(with: scene.source) == "identical")
        // The relaunch fetched nothing, and few bytes were fetched twice.
        #expect(scene.testBed.server.sent == sent)
        #expect(sent <= scene.total + 300_000, "\(scene.testBed.server.ranges)")
        try await relaunched.quit()
    }

    @Test func `when the app returns, the daemon keeps downloads that have bytes, and no range is fetched twice`()
        async throws
    {
        let scene = try await Scene()
        // The server holds what the daemon downloads, longer than a moment if the machine is busy.
        let app = try await scene.handOver(stall: 60)
        // The daemon's four downloads have bytes, and the other downloads have none.
        try await scene.daemonHasBytes(of: 4)
        let asked = scene.testBed.server.ranges
        try app.send("foreground")
        while scene.testBed.server.ranges.count == asked.count { try await Task.sleep(nanoseconds: 5_000_000) }
        scene.testBed.server.slowDown(0)
        scene.testBed.server.hold(after: nil)
        try await app.reaches(prefix: "downloaded")
        #expect(try await app.comparison(with: scene.source) == "identical")
        let later = scene.testBed.server.ranges.dropFirst(asked.count)
        #expect(later.count >= 3, "the app must download the rest: \(asked)")
        #expect(Set(later).isDisjoint(with: asked), "\(asked), then \(later)")
        #expect(scene.testBed.server.sent <= scene.total + 300_000, "\(scene.testBed.server.ranges)")
        try await app.quit()
    }

    @Test func `daemon downloads survive refusals, wrong ranges and a lost network without opening the app`()
        async throws
    {
        let scene = try await Scene()
        let app = try await scene.handOver(
            faults: [.status(403), .cut(after: 300_000), .status(416), .wrongRange, .flip(at: 1000)])
        await app.kill()
        scene.testBed.server.slowDown(0)
        let offline = scene.daemonFolder + "/offline"
        try Data().write(to: URL(fileURLWithPath: offline))
        try await Task.sleep(nanoseconds: 500_000_000)
        #expect(!scene.names("queue").isEmpty)
        try FileManager.default.removeItem(atPath: offline)
        try await scene.daemonIsDone()
        // The corrupted range is found when everything else is here.
        for _ in 0..<4 {
            let relaunched = try scene.start()
            try relaunched.send("events")
            try await relaunched.reaches(line: "handled")
            if try await relaunched.comparison(with: scene.source) == "identical" {
                return try await relaunched.quit()
            }
            // The app may report its state a moment after it has handled the events.
            try await relaunched.reaches("`handed over` or `installed`") {
                $0.hasPrefix("handed over") || $0.hasPrefix("installed")
            }
            await relaunched.kill()
            try await scene.daemonIsDone()
        }
        Issue.record("not installed after four relaunches")
    }

    @Test
    func `if the server ignores ranges, the system doesn't get downloads again, and they finish in the opened app`()
        async throws
    {
        let scene = try await Scene()
        let app = try await scene.handOver(faults: [.ignoreRange])
        await app.kill()
        scene.testBed.server.slowDown(0)
        try await scene.daemonIsDone()
        let relaunched = try scene.start()
        try relaunched.send("events")
        try await relaunched.reaches(line: "handled")
        #expect(!relaunched.lines.contains { $0.hasPrefix("handed over") })
        await relaunched.kill()
        let opened = try scene.start()
        try opened.send("foreground")
        try await opened.reaches(prefix: "installed")
        #expect(try await opened.comparison(with: scene.source) == "identical")
        try await opened.quit()
    }

    @Test func `daemon downloads that a force quit has canceled continue when the user opens the app`() async throws {
        let scene = try await Scene()
        let app = try await scene.handOver()
        await app.kill()
        try Data().write(to: URL(fileURLWithPath: scene.daemonFolder + "/force-quit"))
        try await scene.daemonIsDone()
        scene.testBed.server.slowDown(0)
        let relaunched = try scene.start()
        try relaunched.send("foreground")
        try await relaunched.reaches(prefix: "installed")
        #expect(try await relaunched.comparison(with: scene.source) == "identical")
        try await relaunched.quit()
    }
}
