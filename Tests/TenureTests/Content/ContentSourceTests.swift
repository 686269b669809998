import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import TenurePolicyFile
import Testing

@testable import Tenure

/// An app's own content source: files in a folder that it must first make available.
private final class FolderSource: Tenure.ContentSource {
    let identifier = "folder"
    private let folder: String
    private let state = Locked(State())

    private struct State: Sendable {
        var failures: [Tenure.ContentSourceError] = []
        /// Files of which the next response has a wrong byte, by their digests.
        var corrupted: [String] = []
        var fetched: Int64 = 0
        var removed: [String] = []
        var requests = 0
        var isSilent = false
    }

    init(_ folder: String, failing failures: [Tenure.ContentSourceError] = []) {
        self.folder = folder
        state.withLock { $0.failures = failures }
    }

    /// Whether it returns without delivering anything.
    var isSilent: Bool {
        get { state.withLock { $0.isSilent } }
        set { state.withLock { $0.isSilent = newValue } }
    }
    var requests: Int { state.withLock { $0.requests } }
    func corrupt(_ digests: [String]) { state.withLock { $0.corrupted += digests } }
    var fetched: Int64 { state.withLock { $0.fetched } }
    var removed: [String] { state.withLock { $0.removed } }

    func list() throws -> [Tenure.ContentListing] {
        [.catalog(try Data(contentsOf: URL(fileURLWithPath: folder + "/catalog.jws")))]
    }

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) async throws {
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
        state.withLock { $0.requests += 1 }
        if isSilent { return }
        for step in 1...4 {
            try receive(.preparing(Double(step) / 8))
            // So that the app sees each step.
            try await Task.sleep(nanoseconds: 20_000_000)
        }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/" + request.digest))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(request.range.lowerBound))
        var left = request.range.count
        while left > 0 {
            guard var piece = try file.read(upToCount: min(left, 100_000)), !piece.isEmpty else {
                throw Tenure.ContentSourceError.unavailable()
            }
            left -= piece.count
            let (count, isCorrupted) = (Int64(piece.count), corrupts(request.digest))
            if isCorrupted { piece[piece.startIndex] ^= 1 }
            state.withLock { $0.fetched += count }
            try receive(.bytes(piece))
        }
    }

    private func corrupts(_ digest: String) -> Bool {
        state.withLock { state in
            guard let place = state.corrupted.firstIndex(of: digest) else { return false }
            state.corrupted.remove(at: place)
            return true
        }
    }

    func remove(_ pack: String) { state.withLock { $0.removed.append(pack) } }
}

@Suite(.timeLimit(.minutes(5))) struct `Content sources` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(2_000_000), "index.json": Data("{}".utf8),
    ]

    // MARK: The app's bundle

    private func embed(_ packs: [PackSource], in testBed: ContentTestBed) throws -> URL {
        let folder = testBed.folder.url("bundle/Content")
        _ = try ContentEmbedder(folder: folder.path).embed(packs)
        return folder
    }

    @Test func `a pack in the app's bundle opens in place, without a network`() async throws {
        let testBed = try ContentTestBed(Self.files)
        testBed.server.stop()
        let folder = try embed([testBed.pack(Self.files)], in: testBed)
        // Xcode converts property lists and images.
        try Data("converted".utf8).write(to: folder.appendingPathComponent("piano/index.json"))
        let tenure = testBed.device.start { $0.options.content = .embedded(at: folder) }
        let piano = tenure.content["piano"]
        let state = await piano.reaches { if case .installed = $0 { true } else { false } }
        guard case .installed(_, nil) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try await piano.url(for: "index.json").path == folder.path + "/piano/index.json")
        #expect(try await piano.url(for: "").path == folder.path + "/piano")
        #expect(try Data(contentsOf: await piano.url(for: "samples/a.wav")) == Self.files["samples/a.wav"])
        try await piano.download()
        #expect(await piano.verify())
        #expect(await tenure.content.packs.map(\.bytesOnDisk) == [0])
        #expect(try await piano.url(for: "samples").path == folder.path + "/piano/samples")
        for path in ["b.wav", "sample", "samples/a", "samples/a.wav/b"] {
            await #expect(throws: Tenure.AssetPackError.missingFile(path: path)) { try await piano.url(for: path) }
        }
    }

    @Test func `a pack in the app's bundle opens only for an entitled customer`() async throws {
        let testBed = try ContentTestBed(Self.files, store: FakeStore { $0.app = InventedApp.newcomer() })
        let folder = try embed([testBed.pack(Self.files, unlock: .product("com.example.loops"))], in: testBed)
        let tenure = testBed.device.start { setup in
            setup.options.content = .embedded(at: folder)
            setup.options.whileUndetermined = .deny
        }
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { $0 != .unknown } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "index.json") }
        testBed.device.store.deliverUpdate(InventedApp.purchase("com.example.loops"))
        _ = await piano.reaches { if case .installed = $0 { true } else { false } }
        _ = try await piano.url(for: "index.json")
    }

    @Test func `a newer version of a pack in the app's bundle is offered as an update of the pack`() async throws {
        var changed = Self.files
        changed["index.json"] = Data("{\"version\":2}".utf8)
        let (testBed, new) = (try ContentTestBed(changed), changed)
        let folder = try embed([testBed.pack(Self.files)], in: testBed)
        let (url, keys) = (testBed.server.url, testBed.keys)
        func start() -> Tenure {
            testBed.device.start { $0.options.content = [.embedded(at: folder), .webServer(url, keys: keys)] }
        }
        let tenure = start()
        let piano = tenure.content["piano"]
        let state = await piano.reaches { if case .installed(_, .some) = $0 { true } else { false } }
        guard case .installed(_, .available?) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try Data(contentsOf: await piano.url(for: "index.json")) == Data("{}".utf8))
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == new)
        #expect(testBed.server.sent < 10_000, "the other file comes from the bundle")
        // Removing the update leaves the version in the bundle, even after a relaunch.
        await piano.remove()
        #expect(try Data(contentsOf: await piano.url(for: "index.json")) == Data("{}".utf8))
        try await piano.download()
        testBed.server.stop()
        let again = start()
        _ = await again.content["piano"].reaches { if case .installed(_, nil) = $0 { true } else { false } }
        #expect(try await ContentTestBed.contents(of: again) == new)
    }

    @Test func `the pack in a newer release's bundle opens instead of an older download`() async throws {
        let testBed = try ContentTestBed(Self.files)
        var first = Self.files
        first["index.json"] = Data("{\"version\":0}".utf8)
        var newest = Self.files
        newest["index.json"] = Data("{\"version\":2}".utf8)
        let folder = try embed([testBed.pack(first)], in: testBed)
        let (url, keys) = (testBed.server.url, testBed.keys)
        let tenure = testBed.device.start {
            $0.options.content = [.embedded(at: folder), .webServer(url, keys: keys)]
        }
        _ = await tenure.content["piano"].reaches { if case .installed(_, .some) = $0 { true } else { false } }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        testBed.server.stop()
        try FileManager.default.removeItem(at: testBed.folder.url("device/content/catalogs"))
        let newer = try embed([testBed.pack(newest)], in: testBed)
        let updated = testBed.device.start {
            $0.options.content = [.embedded(at: newer), .webServer(url, keys: keys)]
        }
        _ = await updated.content["piano"].reaches { if case .installed = $0 { true } else { false } }
        #expect(try await ContentTestBed.contents(of: updated) == newest)
    }

    @Test func `an update fetches a file again if the app's bundle has a changed copy of it`() async throws {
        var changed = Self.files
        changed["samples/a.wav"] = ContentTestBed.bytes(1_000_000, seed: 5)
        let (testBed, new) = (try ContentTestBed(changed), changed)
        let folder = try embed([testBed.pack(Self.files)], in: testBed)
        // By chance, the changed file has as many bytes as before.
        try Data("[]".utf8).write(to: folder.appendingPathComponent("piano/index.json"))
        let (url, keys) = (testBed.server.url, testBed.keys)
        let tenure = testBed.device.start {
            $0.options.content = [.embedded(at: folder), .webServer(url, keys: keys)]
        }
        _ = await tenure.content["piano"].reaches { if case .installed(_, .some) = $0 { true } else { false } }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == new)
    }

    // MARK: An app's own source

    @Test func `an app can provide its own content source`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let source = FolderSource(testBed.published)
        let keys = testBed.keys
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        let piano = tenure.content["piano"]
        let seen = Locked<[Int64]>([])
        let watching = Task {
            for await state in piano.states {
                if case .downloading(let progress) = state { seen.withLock { $0.append(progress.bytes) } }
                if case .installed = state { break }
            }
        }
        try await piano.download()
        await watching.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(source.removed == ["piano"], "the source can free its copy")
        let progress = seen.withLock { $0 }
        #expect(progress == progress.sorted(), "progress never goes back")
        // An eighth to a half of the total, before the first byte is delivered.
        #expect(!Set(progress).isDisjoint(with: [250_000, 500_000, 750_000, 1_000_001]), "\(progress)")
        await piano.remove()
        #expect(source.removed == ["piano", "piano"])
    }

    @Test func `a content source is asked again after failures, and once more after a refusal`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let source = FolderSource(
            testBed.published, failing: [.refused, .unavailable(retryAfter: 0), .unavailable(), .refused])
        let keys = testBed.keys
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        let refusing = FolderSource(testBed.published, failing: [.refused, .refused])
        await tenure.content["piano"].remove()
        let other = testBed.device.start { $0.options.content = .custom(refusing, keys: keys) }
        await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await other.content["piano"].download() }
    }

    @Test func `a content source that delivers nothing is asked again after pauses`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let (source, keys) = (FolderSource(testBed.published), testBed.keys)
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        let piano = tenure.content["piano"]
        // The manifest comes, and then nothing.
        let download = Task { try await piano.download() }
        while source.requests == 0 { try await Task.sleep(nanoseconds: 1_000_000) }
        source.isSilent = true
        try await Task.sleep(nanoseconds: 1_500_000_000)
        #expect(source.requests < 10)
        source.isSilent = false
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `a content source that couldn't be reached is asked again soon`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let (source, keys) = (LateSource(testBed.published), testBed.keys)
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        let piano = tenure.content["piano"]
        while source.lists == 0 { try await Task.sleep(nanoseconds: 5_000_000) }
        source.isReady = true
        let state = await piano.reaches { $0 != .unknown }
        guard case .available = state else { return #expect(Bool(false), "\(state)") }
        withExtendedLifetime(testBed) {}
    }

    @Test func `a content source is asked again after wrong bytes of a manifest or an archive`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let version = try #require(try testBed.publish(Self.files).packs.first?.version)
        let source = FolderSource(testBed.published)
        source.corrupt([version.manifest.description, version.manifest.description, version.archive.description])
        let keys = testBed.keys
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `bytes that differ from the published bytes are never installed`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let archive = try #require(
            FileManager.default.contentsOfDirectory(atPath: testBed.published).first { name in
                name.count == 64 && (try? Data(contentsOf: testBed.folder.url("public/" + name)))?.first != 0x7B
            })
        var bytes = try Data(contentsOf: testBed.folder.url("public/" + archive))
        bytes[1_000_000] ^= 1
        try bytes.write(to: testBed.folder.url("public/" + archive))
        let source = FolderSource(testBed.published)
        let keys = testBed.keys
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        let piano = tenure.content["piano"]
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await piano.download() }
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "index.json") }
    }

    @Test func `the newest content catalog stays on the disk, whichever process writes last`() throws {
        let testBed = try ContentTestBed(Self.files)
        let (source, folder) = (FolderSource(testBed.published), testBed.folder.url("catalogs"))
        let entry = Catalogs.Entry(source: source, keys: testBed.keys.compactMap { PinnedKey($0) })
        func read() throws -> Catalogs {
            var catalogs = Catalogs([entry])
            _ = try catalogs.entries[0].apply(source.list(), bundleID: InventedApp.bundleID)
            return catalogs
        }
        let older = try read()
        try testBed.publish(["index.json": Data("[]".utf8)])
        let newer = try read()
        for catalogs in [older, newer, older] {
            try catalogs.entries[0].store(in: folder, bundleID: InventedApp.bundleID)
        }
        var restored = Catalogs([entry])
        restored.restore(from: folder, bundleID: InventedApp.bundleID)
        #expect(restored.entries.first?.signedCatalog?.text == newer.entries.first?.signedCatalog?.text)
        #expect(restored.entries.first?.signedCatalog?.text != older.entries.first?.signedCatalog?.text)
    }

    @Test func `a pack is downloaded from the first content source that has the pack`() async throws {
        let testBed = try ContentTestBed(Self.files)
        var others = Self.files
        others["index.json"] = Data("{\"other\":true}".utf8)
        let second = try ContentTestBed(others)
        let (first, keys) = (FolderSource(testBed.published), testBed.keys)
        let (url, otherKeys) = (second.server.url, second.keys)
        let tenure = testBed.device.start {
            $0.options.content = [.custom(first, keys: keys), .webServer(url, keys: otherKeys)]
        }
        await tenure.content.refresh()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(second.server.sent == 0)
        // A catalog that another key signed is ignored.
        let strange = testBed.device.start { setup in
            setup.options.content = .custom(first, keys: otherKeys)
            setup.contentLocation = ContentLocation(in: testBed.folder.url("strange"))
        }
        await strange.content.refresh()
        #expect(strange.content["piano"].state == .unknown)
    }
}
