import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import Testing

@testable import Tenure

/// Two clients with one folder, as an app and its extension have.
@Suite(.timeLimit(.minutes(5))) struct `Requests that two processes share` {
    private static let files: [String: Data] = ["a.wav": ContentTestBed.bytes(1_000_000), "b.txt": Data("1".utf8)]
    private static let newer: [String: Data] = ["a.wav": ContentTestBed.bytes(1_000_000), "b.txt": Data("2".utf8)]

    private static func isInstalled(_ state: Tenure.AssetPack.State) -> Bool {
        if case .installed = state { true } else { false }
    }

    /// Changes the list as another process does.
    private func change(_ testBed: ContentTestBed, _ change: (inout [PackRequest]) -> Void) throws {
        _ = try SharedRequests(store: PackStore(location: testBed.location)).update(change)
    }

    @Test func `canceling a pack returns only after the other process has stopped its download`() async throws {
        let testBed = try ContentTestBed(Self.files) { $0.stallTimeout = 60 }
        testBed.server.hold(after: 100_000)
        let (first, second) = (testBed.device.start(), testBed.device.start())
        let download = Task { try await first.content["piano"].download() }
        try await wait { testBed.server.sent >= 100_000 }
        _ = await second.content["piano"].reaches { if case .downloading = $0 { true } else { false } }
        await second.content["piano"].cancel()
        #expect(await first.content["piano"].library.runningDownload == nil)
        #expect(!FileManager.default.fileExists(atPath: testBed.folder.path + "/device/content/packs/piano/partial"))
        await #expect(throws: Tenure.AssetPackError.canceled("piano")) { try await download.value }
    }

    @Test func `a pack removed by another process becomes available, however slowly its update stops`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let second = testBed.device.start()
        try await second.content["piano"].download()
        try testBed.publish(Self.newer)
        let (source, keys) = (LateRefusal(testBed.published), testBed.keys)
        let first = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        let piano = first.content["piano"]
        _ = await piano.reaches { if case .installed(_, .some) = $0 { true } else { false } }
        let update = Task { try await piano.download() }
        try await wait { source.isAsked }
        let removal = Task { await piano.remove() }
        try await wait { source.isStopped }
        let (one, other) = (piano.library, second.content["piano"].library)
        // The other process has seen that the request is gone, and the pack is still there.
        try await wait { await one.revision == other.revision }
        source.release()
        await removal.value
        let state = await second.content["piano"].reaches { !Self.isInstalled($0) }
        guard case .available = state else { return #expect(Bool(false), "\(state)") }
        await #expect(throws: Tenure.AssetPackError.self) { try await update.value }
    }

    @Test func `an extension doesn't download ranges that the app handed over to the system`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let version = try #require(testBed.publish(Self.files).packs.first?.version)
        let label = RangeLabel(
            pack: "piano", version: version.manifest.description, range: 0..<version.archiveSize,
            size: version.archiveSize, origin: "")
        let record = testBed.folder.url("device/content/background.json")
        try FileManager.default.createDirectory(
            at: record.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{\"ranges\":[\(label.text)]}".utf8).write(to: record)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        let library = piano.library
        try await wait { await library.requests.count == 1 }
        try await Task.sleep(nanoseconds: 300_000_000)
        #expect(piano.state == .waiting(.turn))
        #expect(testBed.server.ranges == [])
        // The app has taken the download back.
        try FileManager.default.removeItem(at: record)
        try change(testBed) { _ in }
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    // MARK: Updates

    @Test func `an update isn't mistaken for a download that another process just finished`() async throws {
        let testBed = try ContentTestBed(Self.files) { $0.stallTimeout = 60 }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        let installed = try #require(testBed.publish(Self.files).packs.first?.version.manifest.description)
        try testBed.publish(Self.newer)
        await tenure.content.refresh()
        testBed.server.hold(after: 0)
        // The other process has installed the version, and removes its request a moment later.
        try change(testBed) { $0.append(PackRequest(pack: "piano", installed: nil)) }
        let update = Task { try await piano.download() }
        try await wait { await piano.library.runningDownload != nil }
        try change(testBed) { $0.removeAll { $0.pack == "piano" && $0.installed != installed } }
        let library = piano.library
        let revision = SharedRequests(store: PackStore(location: testBed.location)).read().revision
        try await wait { await library.revision == revision }
        testBed.server.hold(after: nil)
        try await update.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.newer)
    }

    @Test func `an update that another process requests is downloaded after the current download`() async throws {
        let testBed = try ContentTestBed(Self.files) { $0.stallTimeout = 60 }
        let version = try #require(testBed.publish(Self.files).packs.first?.version.manifest.description)
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        try await wait { testBed.server.sent >= 100_000 }
        let newest = try #require(testBed.publish(Self.newer).packs.first?.version.manifest.description)
        await tenure.content.refresh()
        try change(testBed) { $0 = [PackRequest(pack: "piano", installed: version)] }
        testBed.server.hold(after: nil)
        try await download.value
        let library = piano.library
        try await wait {
            guard await library.runningDownload == nil else { return false }
            return await library.requests.isEmpty
        }
        #expect(piano.state == .installed(version: newest, update: nil))
    }

    @Test func `a waiting update is dropped when the catalog returns to the installed version`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        let testBed = try ContentTestBed(Self.files) { setup in
            setup.network = { conditions }
            setup.options.expensiveNetworkLimit = 10
        }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        let library = piano.library
        network.yield(NetworkCondition(isExpensive: true))
        try await wait { await library.network != nil }
        try testBed.publish(Self.newer)
        await tenure.content.refresh()
        let update = Task { try await piano.download() }
        _ = await piano.reaches { if case .installed(_, .waiting(.consent)) = $0 { true } else { false } }
        let versions = testBed.folder.path + "/device/content/packs/piano/versions"
        let before = try FileManager.default.contentsOfDirectory(atPath: versions)
        try testBed.publish(Self.files)
        await tenure.content.refresh()
        try await update.value
        network.yield(NetworkCondition())
        try await wait { await library.network?.isExpensive == false }
        #expect(await library.requests == [])
        #expect(await library.runningDownload == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: versions) == before, "nothing is installed again")
    }
}
