import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// A source as an app would write one: files in a folder that it first has to make available.
private final class FolderSource: Tenure.ContentSource {
    let identifier = "folder"
    private let folder: String
    private let state = Locked(State())

    private struct State: Sendable {
        var failures: [Tenure.ContentSourceError] = []
        var fetched: Int64 = 0
        var removed: [String] = []
    }

    init(_ folder: String, failing failures: [Tenure.ContentSourceError] = []) {
        self.folder = folder
        state.withLock { $0.failures = failures }
    }

    var fetched: Int64 { state.withLock { $0.fetched } }
    var removed: [String] { state.withLock { $0.removed } }

    func list() throws -> [Tenure.ContentListing] {
        [.catalog(try Data(contentsOf: URL(fileURLWithPath: folder + "/catalog.jws")))]
    }

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) throws {
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
        for step in 1...4 { try receive(.preparing(Double(step) / 8)) }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/" + request.digest))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(request.range.lowerBound))
        var left = request.range.count
        while left > 0 {
            guard let piece = try file.read(upToCount: min(left, 100_000)), !piece.isEmpty else {
                throw Tenure.ContentSourceError.unavailable()
            }
            left -= piece.count
            state.withLock { $0.fetched += Int64(piece.count) }
            try receive(.bytes(piece))
        }
    }

    func remove(_ pack: String) { state.withLock { $0.removed.append(pack) } }
}

@Suite(.timeLimit(.minutes(5))) struct `Content sources` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentWorld.bytes(2_000_000), "index.json": Data("{}".utf8),
    ]

    // MARK: The app's bundle

    private func embed(_ packs: [PackSource], in world: ContentWorld) throws -> URL {
        let folder = world.folder.url("bundle/Content")
        _ = try ContentEmbedder(folder: folder.path).embed(packs)
        return folder
    }

    @Test func `open a pack in the app's bundle in place, without a network`() async throws {
        let world = try ContentWorld(Self.files)
        world.server.stop()
        let folder = try embed([world.pack(Self.files)], in: world)
        // Xcode converts property lists and images.
        try Data("converted".utf8).write(to: folder.appendingPathComponent("piano/index.json"))
        let tenure = world.device.start { $0.options.content = .embedded(at: folder) }
        let piano = tenure.content["piano"]
        let state = await piano.reaches { if case .installed = $0 { true } else { false } }
        guard case .installed(_, nil) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try await piano.url(for: "index.json").path == folder.path + "/piano/index.json")
        #expect(try await piano.url(for: "").path == folder.path + "/piano")
        #expect(try Data(contentsOf: await piano.url(for: "samples/a.wav")) == Self.files["samples/a.wav"])
        try await piano.download()
        #expect(await piano.verify())
        #expect(await tenure.content.packs.map(\.bytesOnDisk) == [0])
        await #expect(throws: Tenure.AssetPackError.missingFile(path: "b.wav")) { try await piano.url(for: "b.wav") }
    }

    @Test func `need the right for a pack in the app's bundle`() async throws {
        let world = try ContentWorld(Self.files, store: FakeStore { $0.app = World.newcomer() })
        let folder = try embed([world.pack(Self.files, unlock: .product("com.example.loops"))], in: world)
        let tenure = world.device.start { setup in
            setup.options.content = .embedded(at: folder)
            setup.options.whileUndetermined = .deny
        }
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { $0 != .unknown } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "index.json") }
        world.device.store.deliverUpdate(World.purchase("com.example.loops"))
        _ = await piano.reaches { if case .installed = $0 { true } else { false } }
        _ = try await piano.url(for: "index.json")
    }

    @Test func `bring a newer version of a pack in the app's bundle as its update`() async throws {
        var changed = Self.files
        changed["index.json"] = Data("{\"version\":2}".utf8)
        let (world, new) = (try ContentWorld(changed), changed)
        let folder = try embed([world.pack(Self.files)], in: world)
        let (url, keys) = (world.server.url, world.keys)
        func start() -> Tenure {
            world.device.start { $0.options.content = [.embedded(at: folder), .webServer(url, keys: keys)] }
        }
        let tenure = start()
        let piano = tenure.content["piano"]
        let state = await piano.reaches { if case .installed(_, .some) = $0 { true } else { false } }
        guard case .installed(_, .available?) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try Data(contentsOf: await piano.url(for: "index.json")) == Data("{}".utf8))
        try await piano.download()
        #expect(try await ContentWorld.contents(of: tenure) == new)
        #expect(world.server.sent < 10_000, "the other file comes from the bundle")
        // Removing it leaves the version in the bundle, also after a relaunch.
        await piano.remove()
        #expect(try Data(contentsOf: await piano.url(for: "index.json")) == Data("{}".utf8))
        try await piano.download()
        world.server.stop()
        let again = start()
        _ = await again.content["piano"].reaches { if case .installed(_, nil) = $0 { true } else { false } }
        #expect(try await ContentWorld.contents(of: again) == new)
    }

    @Test func `open the pack of a newer release of the app instead of an older download`() async throws {
        let world = try ContentWorld(Self.files)
        var first = Self.files
        first["index.json"] = Data("{\"version\":0}".utf8)
        var newest = Self.files
        newest["index.json"] = Data("{\"version\":2}".utf8)
        let folder = try embed([world.pack(first)], in: world)
        let (url, keys) = (world.server.url, world.keys)
        let tenure = world.device.start {
            $0.options.content = [.embedded(at: folder), .webServer(url, keys: keys)]
        }
        _ = await tenure.content["piano"].reaches { if case .installed(_, .some) = $0 { true } else { false } }
        try await tenure.content["piano"].download()
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        world.server.stop()
        try FileManager.default.removeItem(at: world.folder.url("device/content/catalogs"))
        let newer = try embed([world.pack(newest)], in: world)
        let updated = world.device.start {
            $0.options.content = [.embedded(at: newer), .webServer(url, keys: keys)]
        }
        _ = await updated.content["piano"].reaches { if case .installed = $0 { true } else { false } }
        #expect(try await ContentWorld.contents(of: updated) == newest)
    }

    // MARK: An app's own source

    @Test func `can be an app's own`() async throws {
        let world = try ContentWorld(Self.files)
        let source = FolderSource(world.published)
        let keys = world.keys
        let tenure = world.device.start { $0.options.content = .custom(source, keys: keys) }
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
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        #expect(source.removed == ["piano"], "the source can free its copy")
        #expect(seen.withLock { $0 } == seen.withLock { $0.sorted() }, "progress never goes back")
        await piano.remove()
        #expect(source.removed == ["piano", "piano"])
    }

    @Test func `are asked again after trouble, and once more after a refusal`() async throws {
        let world = try ContentWorld(Self.files)
        let source = FolderSource(
            world.published, failing: [.refused, .unavailable(retryAfter: 0), .unavailable(), .refused])
        let keys = world.keys
        let tenure = world.device.start { $0.options.content = .custom(source, keys: keys) }
        try await tenure.content["piano"].download()
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        let refusing = FolderSource(world.published, failing: [.refused, .refused])
        await tenure.content["piano"].remove()
        let other = world.device.start { $0.options.content = .custom(refusing, keys: keys) }
        await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await other.content["piano"].download() }
    }

    @Test func `that deliver other bytes than were published never install them`() async throws {
        let world = try ContentWorld(Self.files)
        let archive = try #require(
            FileManager.default.contentsOfDirectory(atPath: world.published).first { name in
                name.count == 64 && (try? Data(contentsOf: world.folder.url("public/" + name)))?.first != 0x7B
            })
        var bytes = try Data(contentsOf: world.folder.url("public/" + archive))
        bytes[1_000_000] ^= 1
        try bytes.write(to: world.folder.url("public/" + archive))
        let source = FolderSource(world.published)
        let keys = world.keys
        let tenure = world.device.start { $0.options.content = .custom(source, keys: keys) }
        let piano = tenure.content["piano"]
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await piano.download() }
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "index.json") }
    }

    @Test func `deliver what the first of them has`() async throws {
        let world = try ContentWorld(Self.files)
        var others = Self.files
        others["index.json"] = Data("{\"other\":true}".utf8)
        let second = try ContentWorld(others)
        let (first, keys) = (FolderSource(world.published), world.keys)
        let (url, otherKeys) = (second.server.url, second.keys)
        let tenure = world.device.start {
            $0.options.content = [.custom(first, keys: keys), .webServer(url, keys: otherKeys)]
        }
        try await tenure.content["piano"].download()
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        #expect(second.server.sent == 0)
        // A catalog that another key signed counts for nothing.
        let strange = world.device.start { setup in
            setup.options.content = .custom(first, keys: otherKeys)
            setup.contentLocation = ContentLocation(in: world.folder.url("strange"))
        }
        await strange.content.refresh()
        #expect(strange.content["piano"].state == .unknown)
    }
}
