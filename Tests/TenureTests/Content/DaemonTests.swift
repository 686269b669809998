import CommandRunner
import Foundation
import Testing

@testable import Tenure

/// Real processes: an app that leaves its downloads to a daemon, which goes on while the app is dead.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `Downloads by the system's daemon` {
    private static let part = 300_000
    private static let parts = 12

    /// An installed pack, of which every second file has changed since: an update fetches twelve ranges.
    private final class Scene {
        let world: ContentWorld
        let files: [String: Data]
        let device: String
        let daemonFolder: String
        let daemon: RunningCommand
        let source: String

        init() async throws {
            var files: [String: Data] = [:]
            for number in 0..<2 * parts {
                files[String(format: "%02d.wav", number)] = ContentWorld.bytes(part, seed: UInt64(number + 1))
            }
            world = try ContentWorld(files)
            device = world.folder.path + "/phone"
            daemonFolder = world.folder.path + "/daemon"
            source = world.folder.path + "/expected"
            daemon = try RunningCommand(
                ["daemon", daemonFolder], executable: Command.executable(named: "ContentProcess"))
            let first = try ContentClient(device: device, from: world.server.url.absoluteString, key: world.keyText)
            try first.send("download")
            try await first.reaches(prefix: "installed")
            try await first.quit()
            for number in 0..<parts {
                files[String(format: "%02d.wav", number * 2)] = ContentWorld.bytes(part, seed: UInt64(number + 1000))
            }
            self.files = files
            try world.publish(files)
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            for (name, data) in files { try data.write(to: URL(fileURLWithPath: source + "/" + name)) }
            world.server.resetCount()
        }

        deinit { daemon.signal(SIGKILL) }

        func start() throws -> ContentClient {
            try ContentClient(
                device: device, from: world.server.url.absoluteString, key: world.keyText,
                settings: ["daemon": daemonFolder, "stall": "3"])
        }

        /// Starts an update, and leaves the foreground when one range is here.
        func handOver(faults: [ContentServer.Fault] = []) async throws -> ContentClient {
            // 800 KB a second.
            world.server.slowDown(20_000)
            let client = try start()
            try await client.reaches(prefix: "available")
            try client.send("download")
            try await client.reaches(bytes: Int64(part * 5 / 4))
            world.server.add(faults)
            try client.send("background")
            try await client.reaches(prefix: "handed over")
            return client
        }

        func names(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: daemonFolder + "/" + folder)) ?? []
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

    @Test func `go on while the app is dead, and a relaunch by the system installs them`() async throws {
        let scene = try await Scene()
        let app = try await scene.handOver()
        await app.kill()
        scene.world.server.slowDown(0)
        try await scene.daemonIsDone()
        let sent = scene.world.server.sent
        let relaunched = try scene.start()
        try relaunched.send("events")
        try await relaunched.reaches(line: "handled")
        #expect(relaunched.lines.last { $0.hasPrefix("installed") } != nil, "\(relaunched.lines)")
        #expect(try await relaunched.comparison(with: scene.source) == "identical")
        // Nothing was fetched after the relaunch, and little twice.
        #expect(scene.world.server.sent == sent)
        #expect(sent <= scene.total + 300_000, "\(scene.world.server.ranges)")
        try await relaunched.quit()
    }

    @Test func `in the foreground again, end where they have bytes, and no range is fetched twice`() async throws {
        let scene = try await Scene()
        let app = try await scene.handOver()
        // The daemon's four downloads have bytes, the others have none.
        try await Task.sleep(nanoseconds: 150_000_000)
        let asked = scene.world.server.ranges
        try app.send("foreground")
        try await app.reaches(prefix: "downloaded")
        #expect(try await app.comparison(with: scene.source) == "identical")
        let later = scene.world.server.ranges.dropFirst(asked.count)
        #expect(later.count >= 3, "nothing is left for the foreground: \(asked)")
        #expect(Set(later).isDisjoint(with: asked), "\(asked), then \(later)")
        #expect(scene.world.server.sent <= scene.total + 300_000, "\(scene.world.server.ranges)")
        try await app.quit()
    }

    @Test func `survive refusals, whole files in answer to ranges, cuts and a network that is gone`() async throws {
        let scene = try await Scene()
        let app = try await scene.handOver(
            faults: [.status(403), .ignoreRange, .cut(after: 300_000), .status(416), .wrongRange, .flip(at: 1000)])
        await app.kill()
        scene.world.server.slowDown(0)
        let offline = scene.daemonFolder + "/offline"
        try Data().write(to: URL(fileURLWithPath: offline))
        try await Task.sleep(nanoseconds: 500_000_000)
        #expect(!scene.names("queue").isEmpty)
        try FileManager.default.removeItem(atPath: offline)
        try await scene.daemonIsDone()
        // As often as the app hands something over again.
        for _ in 0..<6 {
            let relaunched = try scene.start()
            try relaunched.send("events")
            try await relaunched.reaches(line: "handled")
            let isInstalled = relaunched.lines.contains { $0.hasPrefix("installed") }
            if isInstalled {
                #expect(try await relaunched.comparison(with: scene.source) == "identical")
                return try await relaunched.quit()
            }
            await relaunched.kill()
            try await scene.daemonIsDone()
        }
        Issue.record("not installed after six relaunches")
    }

    @Test func `that a force quit has canceled continue when the user opens the app`() async throws {
        let scene = try await Scene()
        let app = try await scene.handOver()
        await app.kill()
        try Data().write(to: URL(fileURLWithPath: scene.daemonFolder + "/force-quit"))
        try await scene.daemonIsDone()
        scene.world.server.slowDown(0)
        let relaunched = try scene.start()
        try relaunched.send("foreground")
        try await relaunched.reaches(prefix: "installed")
        #expect(try await relaunched.comparison(with: scene.source) == "identical")
        try await relaunched.quit()
    }
}
