import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `Downloads of asset packs` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(9_000_000), "samples/b.wav": ContentTestBed.bytes(5_000_000, seed: 2),
        "index.json": Data("{}".utf8), "empty.txt": Data(),
    ]
    private static let size = files.values.reduce(0) { $0 + $1.count }

    @Test func `a downloaded asset pack is installed, opens, and equals the published files`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        guard case .installed(_, nil) = piano.state else { return #expect(Bool(false), "\(piano.state)") }
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.sent < Self.size + 10_000)
        let listing = await tenure.content.packs
        #expect(listing.map(\.name) == ["piano"])
        #expect((listing.first?.bytesOnDisk ?? 0) >= Int64(Self.size))
    }

    @Test func `after a relaunch, downloads of asset packs continue with the bytes on the disk`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.stall(after: 4_000_000)]) { $0.stallTimeout = 60 }
        var first: Tenure? = testBed.device.start()
        let piano = try #require(first).content["piano"]
        let waiting = Task { try? await piano.download() }
        let seen = await piano.reaches(bytes: 3_000_000)
        waiting.cancel()
        let library = piano.library
        first = nil
        while await library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        testBed.server.resetCount()
        let tenure = testBed.device.start()
        let state = await tenure.content["piano"].reaches { if case .installed = $0 { true } else { false } }
        guard case .installed(_, nil) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.starts.allSatisfy { $0 >= seen }, "\(testBed.server.ranges)")
    }

    @Test
    func `a paused asset pack stays paused after a relaunch, and resuming fetches nothing again`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.stall(after: 4_000_000)]) { $0.stallTimeout = 60 }
        var first: Tenure? = testBed.device.start()
        let piano = try #require(first).content["piano"]
        let waiting = Task { try? await piano.download() }
        let seen = await piano.reaches(bytes: 1_000_000)
        await piano.pause()
        waiting.cancel()
        #expect(await piano.reaches { $0 == .paused } == .paused)
        let library = piano.library
        first = nil
        while await library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        testBed.server.resetCount()
        let tenure = testBed.device.start()
        #expect(await tenure.content["piano"].reaches { $0 != .unknown && $0 != .notEntitled } == .paused)
        await tenure.content["piano"].resume()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.starts.allSatisfy { $0 >= seen }, "\(testBed.server.ranges)")
    }

    @Test func `an update of an asset pack fetches only changed files, even if other files were renamed`() async throws
    {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        let old = try await tenure.content["piano"].url(for: "samples/a.wav")
        var changed = Self.files
        changed["samples/renamed.wav"] = changed.removeValue(forKey: "samples/a.wav")
        changed["index.json"] = ContentTestBed.bytes(200_000, seed: 3)
        try testBed.publish(changed)
        testBed.server.resetCount()
        await tenure.content.refresh()
        guard case .installed(_, .available?) = tenure.content["piano"].state else {
            return #expect(Bool(false), "\(tenure.content["piano"].state)")
        }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == changed)
        #expect(testBed.server.sent <= 220_000)
        #expect(try Data(contentsOf: old) == Self.files["samples/a.wav"])
    }

    @Test func `updating an asset pack frees the space of an old version that no process uses`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        let versions = testBed.folder.path + "/device/content/packs/piano/versions"
        let old = try FileManager.default.contentsOfDirectory(atPath: versions)
        var changed = Self.files
        changed["samples/a.wav"] = ContentTestBed.bytes(4_000_000, seed: 3)
        try testBed.publish(changed)
        await tenure.content.refresh()
        try await piano.download()
        let library = piano.library
        while await library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        let new = try FileManager.default.contentsOfDirectory(atPath: versions)
        #expect(new.count == 1 && new != old, "\(old), then \(new)")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: testBed.folder.path + "/device/content/packs/piano")
        #expect(names.count { $0.count == 64 + ".json".count } == 1, "one manifest: \(names)")
        #expect(try await ContentTestBed.contents(of: tenure) == changed)
    }

    @Test func `repairing an asset pack fetches only its missing file`() async throws {
        try await fetchesOneFile { try FileManager.default.removeItem(at: $0) }
    }

    @Test func `repairing an asset pack fetches only a file that verify finds damaged`() async throws {
        try await fetchesOneFile { file in
            var bytes = try Data(contentsOf: file)
            bytes[4_999_999] ^= 1
            try bytes.write(to: file)
        }
    }

    /// Expects that a download after a change to one of the installed files fetches only that file.
    private func fetchesOneFile(after change: (URL) throws -> Void) async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        #expect(await piano.verify())
        try change(try await piano.url(for: "samples/b.wav"))
        #expect(await !piano.verify())
        #expect(piano.state == .available(size: 5_000_000))
        testBed.server.resetCount()
        try await piano.download()
        #expect(testBed.server.sent < 5_010_000)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `downloads of asset packs are requested in ranges of at most 32 MiB`() async throws {
        let block = ContentTestBed.bytes(4_000_000)
        let files = ["large.wav": (0..<10).reduce(into: Data()) { data, _ in data += block }]
        let testBed = try ContentTestBed(files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(testBed.server.ranges == ["512-33554943", "33554944-40000511"])
        #expect(try await ContentTestBed.contents(of: tenure) == files)
    }

    @Test func `a finished download leaves no temporary file in the content folder`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        let names = try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path + "/device/content")
        #expect(names.sorted() == ["catalogs", "packs", "packs.lock", "requests.json"])
    }

    @Test func `an asset pack can be downloaded only with a right to the pack, such as a purchase`() async throws {
        let testBed = try ContentTestBed(
            Self.files, unlock: .product("com.example.loops"), store: FakeStore { $0.app = InventedApp.newcomer() })
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        // First, the purchases may not be known yet, which the policy's grace period covers.
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.download() }
        testBed.device.store.deliverUpdate(InventedApp.purchase("com.example.loops"))
        _ = await piano.reaches { if case .available = $0 { true } else { false } }
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `a download of an asset pack waits for disk space, and continues once there is space`() async throws {
        let free = Locked<Int64>(1_000)
        let testBed = try ContentTestBed(Self.files) { $0.freeSpace = { _ in free.withLock { $0 } } }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        // All files and 16 MiB, of which 1,000 bytes are free.
        let needed = Int64(Self.size) + (16 << 20)
        let wait = Tenure.AssetPack.State.waiting(.space(missing: needed - 1_000))
        #expect(await piano.reaches { if case .waiting(.space) = $0 { true } else { false } } == wait)
        free.withLock { $0 = needed }
        await piano.resume()
        try await download.value
        #expect(testBed.server.sent < Self.size + 10_000)
    }

    @Test func `an update never changes a file that it shares with the installed version of an asset pack`()
        async throws
    {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        let old = try await piano.url(for: "samples/a.wav")
        // The installed file loses its end while an update that reuses it is under way.
        testBed.server.add([.stall(after: 100_000)])
        var newer = Self.files
        newer["more.wav"] = ContentTestBed.bytes(3_000_000, seed: 9)
        try testBed.publish(newer)
        await tenure.content.refresh()
        let update = Task { try? await piano.download() }
        while testBed.server.faultsLeft > 0 { try await Task.sleep(nanoseconds: 5_000_000) }
        await piano.pause()
        update.cancel()
        let library = piano.library
        while await library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        let file = try FileHandle(forUpdating: old)
        try file.truncate(atOffset: 1_000)
        try file.close()
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == newer)
        // The old file is as it was, so what another process reads from it doesn't change.
        #expect(try Data(contentsOf: old).count == 1_000)
    }

    @Test func `an asset pack can be downloaded only if the catalog lists it and the app is new enough`() async throws {
        let testBed = try ContentTestBed(Self.files, minimumAppVersion: "3.2") { $0.appVersion = AppVersion("3.1") }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { $0 == .needsAppUpdate } == .needsAppUpdate)
        await #expect(throws: Tenure.AssetPackError.needsAppUpdate("piano")) { try await piano.download() }
        await #expect(throws: Tenure.AssetPackError.unknownPack("violin")) {
            try await tenure.content["violin"].download()
        }
    }

    @Test func `asset packs open offline once installed, and can be removed`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let first = testBed.device.start()
        try await first.content["piano"].download()
        testBed.server.stop()
        let tenure = testBed.device.start()
        for await customer in tenure.updates where !customer.isResolving { break }
        let piano = tenure.content["piano"]
        _ = await piano.reaches { if case .installed = $0 { true } else { false } }
        #expect(try Data(contentsOf: await piano.url(for: "index.json")) == Data("{}".utf8))
        await piano.remove()
        #expect(await tenure.content.packs.map(\.bytesOnDisk) == [0])
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "index.json") }
    }
}
