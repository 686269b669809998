import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// Events during a download, and between two starts of the app.
@Suite(.timeLimit(.minutes(5))) struct `Interrupted downloads and installations of asset packs` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(6_000_000), "samples/b.wav": ContentTestBed.bytes(3_000_000, seed: 2),
        "index.json": Data("{}".utf8),
    ]

    @Test func `a pack's download finishes the version that it began, and a newer version is an update`() async throws {
        let testBed = try ContentTestBed(Self.files)
        // 4 MB a second.
        testBed.server.slowDown(4000)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        _ = await piano.reaches(bytes: 1_000_000)
        var newer = Self.files
        newer["index.json"] = Data("[]".utf8)
        let version = try #require(try testBed.publish(newer).packs.first?.version.manifest)
        await tenure.content.refresh()
        testBed.server.slowDown(0)
        // The caller gets the version that it requested.
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        guard case .installed(let installed, .available?) = piano.state else {
            Issue.record("\(piano.state)")
            return
        }
        #expect(installed != version.description)
        testBed.server.resetCount()
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == newer)
        #expect(piano.state == .installed(version: version.description, update: nil))
        #expect(testBed.server.sent < 10_000)
    }

    @Test func `a download continues with the newest version if the web server has removed the version that it began`()
        async throws
    {
        let testBed = try ContentTestBed(Self.files) { $0.stallTimeout = 60 }
        let begun = try #require(try testBed.publish(Self.files).packs.first?.version.archive)
        testBed.server.hold(after: 1_000_000)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        while testBed.server.sent < 1_000_000 { try await Task.sleep(nanoseconds: 5_000_000) }
        var newer = Self.files
        newer["index.json"] = Data("[]".utf8)
        try testBed.publish(newer)
        try FileManager.default.removeItem(atPath: "\(testBed.published)/\(begun)")
        testBed.server.hold(after: nil, closing: 1)
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == newer)
    }

    @Test func `an expired download link is replaced, and the downloaded bytes stay`() async throws {
        let testBed = try ContentTestBed(
            Self.files, faults: [.cut(after: 2_000_000), .status(403), .status(500), .status(401)])
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.faultsLeft == 0)
        #expect(testBed.server.starts.filter { $0 < 1_000_000 }.count == 1, "\(testBed.server.ranges)")
    }

    @Test(arguments: ["removed", "shortened"])
    func `a pack that lost a file while the app was closed is available, and only that file is fetched`(
        loss: String
    ) async throws {
        let testBed = try ContentTestBed(Self.files)
        var first: Tenure? = testBed.device.start()
        try await first?.content["piano"].download()
        let url = try #require(try await first?.content["piano"].url(for: "samples/b.wav"))
        first = nil
        try FileManager.default.removeItem(at: url)
        if loss == "shortened" { try ContentTestBed.bytes(2_999_999, seed: 2).write(to: url) }
        testBed.server.resetCount()
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { if case .available = $0 { true } else { false } } == .available(size: 3_000_000))
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "index.json") }
        try await piano.download()
        #expect(testBed.server.sent < 3_010_000)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `opening a pack that the system removed throws notInstalled, and the pack can be downloaded again`()
        async throws
    {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        try FileManager.default.removeItem(atPath: testBed.folder.path + "/device/content/packs/piano")
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "index.json") }
        guard case .available = piano.state else { return #expect(Bool(false), "\(piano.state)") }
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `pack bytes that changed on the disk while the app was closed are fetched again`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.stall(after: 8_000_000)]) { $0.stallTimeout = 60 }
        var first: Tenure? = testBed.device.start()
        let piano = try #require(first).content["piano"]
        let download = Task { try? await piano.download() }
        _ = await piano.reaches(bytes: 7_000_000)
        try await ContentTestBed.end(&first, during: download)
        // As after a loss of power: the file is long enough.
        let path = testBed.folder.path + "/device/content/packs/piano/partial/files/samples/a.wav"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes == Self.files["samples/a.wav"])
        bytes[5_000_000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        testBed.server.resetCount()
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        // The second chunk of the file, and the rest of the download.
        #expect(testBed.server.sent < 6_000_000 - PackManifest.chunkSize + 2_100_000, "\(testBed.server.ranges)")
    }

    @Test func `URLs of an old pack version stay valid as long as the process runs`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        let old = try await tenure.content["piano"].url(for: "index.json")
        let folder = testBed.folder.path + "/device/content/packs/piano"
        let version = try #require(FileManager.default.contentsOfDirectory(atPath: folder + "/versions").first)
        for days in [-366.0, 8, 366] {
            #expect(VersionUse.isUsed(version, inFolder: folder, at: Date().addingTimeInterval(days * 86_400)))
        }
        try testBed.publish(["index.json": Data("[]".utf8)])
        await tenure.content.refresh()
        try await tenure.content["piano"].download()
        // A second start in the same process tidies up.
        let second = testBed.device.start()
        _ = await second.content["piano"].reaches { if case .installed = $0 { true } else { false } }
        #expect(try Data(contentsOf: old) == Data("{}".utf8))
    }

    @Test
    func `a pack version is kept for a week after another process last confirmed that it uses the version`() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/users", withIntermediateDirectories: true)
        let note = folder.url("users/0123.\(getppid())")
        func isUsed(days: Double) throws -> Bool {
            try Data("\(Date().timeIntervalSince1970 - days * 86_400)".utf8).write(to: note)
            return VersionUse.isUsed("0123", inFolder: folder.path)
        }
        #expect(try isUsed(days: 0))
        #expect(try isUsed(days: 6))
        // By then, its number may be that of another process.
        #expect(try !isUsed(days: 8))
        #expect(!FileManager.default.fileExists(atPath: note.path))
    }

    @Test func `a pack's new version opens at once after another process has replaced the old version`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        // This client knows the old version, and hasn't given out a URL of it.
        let other = testBed.device.start().content["piano"]
        _ = await other.reaches { if case .installed = $0 { true } else { false } }
        try testBed.publish(["index.json": Data("[]".utf8)])
        await tenure.content.refresh()
        try await tenure.content["piano"].download()
        #expect(try Data(contentsOf: await other.url(for: "index.json")) == Data("[]".utf8))
    }

    @Test func `a pack that another process has removed can be downloaded again`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        let second = testBed.device.start()
        let other = second.content["piano"]
        _ = await other.reaches { if case .installed = $0 { true } else { false } }
        await tenure.content["piano"].remove()
        let state = await other.reaches { if case .installed = $0 { false } else { true } }
        guard case .available = state else { return #expect(Bool(false), "\(state)") }
        try await other.download()
        #expect(try await ContentTestBed.contents(of: second) == Self.files)
    }

    @Test func `a process that runs for more than a week keeps the versions that it uses`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        _ = try await tenure.content["piano"].url(for: "index.json")
        let users = testBed.folder.path + "/device/content/packs/piano/users"
        let note = try #require(FileManager.default.contentsOfDirectory(atPath: users).first)
        // As if the process had noted it eight days ago. Another process reads only this file.
        let old = Date().timeIntervalSince1970 - 8 * 86_400
        try Data("\(old)".utf8).write(to: URL(fileURLWithPath: users + "/" + note))
        // The client asks for the catalog once a day.
        await tenure.content.refresh()
        let noted = try #require(Double(String(contentsOfFile: users + "/" + note, encoding: .utf8)))
        #expect(abs(Date().timeIntervalSince1970 - noted) < 60)
    }

    @Test func `an interrupted installation of a pack is finished at the next start`() async throws {
        let testBed = try ContentTestBed(Self.files)
        var first: Tenure? = testBed.device.start()
        let piano = try #require(first).content["piano"]
        testBed.server.add([.stall(after: 8_900_000)])
        let download = Task { try? await piano.download() }
        _ = await piano.reaches(bytes: 8_000_000)
        try await ContentTestBed.end(&first, during: download)
        // As if the process had died after the files were put in place: they are complete, and the pack's state is
        // missing.
        let folder = testBed.folder.path + "/device/content/packs/piano"
        let plan = try #require(PartialPack.plan(in: folder))
        for (path, data) in Self.files { try data.write(to: URL(fileURLWithPath: folder + "/partial/files/" + path)) }
        try FileManager.default.createDirectory(atPath: folder + "/versions", withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: folder + "/partial/files", toPath: folder + "/versions/" + plan.folder)
        testBed.server.resetCount()
        // Another process tidies up first.
        PackStore(location: testBed.location).removeOldVersions(of: "piano")
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.sent == 0)
    }

    @Test func `a pack can be installed after hundreds of started and canceled downloads`() async throws {
        let testBed = try ContentTestBed(Self.files)
        // 0.8 MB a second: no download ends.
        testBed.server.slowDown(20_000)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let folder = testBed.folder.path + "/device/content/packs/piano"
        // A thousand rounds take minutes on a busy machine.
        let rounds = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 200 : 1000
        for round in 0..<rounds {
            let download = Task { try await piano.download() }
            _ = await piano.reaches {
                switch $0 {
                case .waiting, .downloading: true
                default: false
                }
            }
            if round % 3 == 0 { try await Task.sleep(nanoseconds: UInt64(round % 20) * 1_000_000) }
            await piano.cancel()
            await #expect(throws: Tenure.AssetPackError.canceled("piano")) { try await download.value }
            guard round % 100 == 0 else { continue }
            #expect(!FileManager.default.fileExists(atPath: folder + "/partial"))
            guard case .available = piano.state else { Issue.record("\(piano.state)"); return }
        }
        testBed.server.slowDown(0)
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }
}
