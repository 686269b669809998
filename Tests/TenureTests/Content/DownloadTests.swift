import Foundation
import TenureContent
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `Downloads of asset packs` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentWorld.bytes(9_000_000), "samples/b.wav": ContentWorld.bytes(5_000_000, seed: 2),
        "index.json": Data("{}".utf8), "empty.txt": Data(),
    ]
    private static let size = files.values.reduce(0) { $0 + $1.count }

    @Test func `are installed, open and equal to what was published`() async throws {
        let world = try ContentWorld(Self.files)
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        guard case .installed(_, nil) = piano.state else { return #expect(Bool(false), "\(piano.state)") }
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        #expect(world.server.sent < Self.size + 10_000)
        let listing = await tenure.content.packs
        #expect(listing.map(\.name) == ["piano"])
        #expect((listing.first?.bytesOnDisk ?? 0) >= Int64(Self.size))
    }

    @Test func `survive a hostile line without fetching much again`() async throws {
        let world = try ContentWorld(
            Self.files,
            faults: [
                .cut(after: 1_000_000), .status(500), .stall(after: 500_000), .status(429, headers: ["Retry-After: 0"]),
                .ignoreRange, .wrongRange, .flip(at: 100_000), .cut(after: 700_000),
            ])
        // 40 MB a second.
        world.server.slowDown(400)
        let tenure = world.device.start()
        let watched = Task {
            var last: Int64 = 0
            for await state in tenure.content["piano"].states {
                if case .failed(let error) = state { Issue.record("\(error)") }
                if case .installed = state { break }
                guard case .downloading(let progress) = state else { continue }
                #expect(progress.bytes >= last)
                last = progress.bytes
            }
        }
        try await tenure.content["piano"].download()
        await watched.value
        #expect(world.server.faultsLeft == 0)
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        // One chunk was flipped. What lay in the kernel's buffers when a connection was closed counts as sent, too.
        let buffers = 4 * 1_500_000
        #expect(world.server.sent <= Int(1.1 * Double(Self.size)) + (4 << 20) + buffers)
    }

    @Test func `continue after a relaunch from what is on the disk`() async throws {
        let world = try ContentWorld(Self.files, faults: [.stall(after: 4_000_000)]) { $0.stallTimeout = 60 }
        var first: Tenure? = world.device.start()
        let piano = try #require(first).content["piano"]
        let waiting = Task { try? await piano.download() }
        let seen = await piano.reaches(bytes: 3_000_000)
        waiting.cancel()
        let library = piano.library
        first = nil
        while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        world.server.resetCount()
        let tenure = world.device.start()
        let state = await tenure.content["piano"].reaches { if case .installed = $0 { true } else { false } }
        guard case .installed(_, nil) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        #expect(world.server.starts.allSatisfy { $0 >= seen }, "\(world.server.ranges)")
    }

    @Test func `that were paused stay paused after a relaunch, and resume fetches nothing again`() async throws {
        let world = try ContentWorld(Self.files, faults: [.stall(after: 4_000_000)]) { $0.stallTimeout = 60 }
        var first: Tenure? = world.device.start()
        let piano = try #require(first).content["piano"]
        let waiting = Task { try? await piano.download() }
        let seen = await piano.reaches(bytes: 1_000_000)
        await piano.pause()
        waiting.cancel()
        #expect(await piano.reaches { $0 == .paused } == .paused)
        let library = piano.library
        first = nil
        while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        world.server.resetCount()
        let tenure = world.device.start()
        #expect(await tenure.content["piano"].reaches { $0 != .unknown && $0 != .notEntitled } == .paused)
        await tenure.content["piano"].resume()
        try await tenure.content["piano"].download()
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
        #expect(world.server.starts.allSatisfy { $0 >= seen }, "\(world.server.ranges)")
    }

    @Test func `fetch only the changed files of an update, whatever the others are called`() async throws {
        let world = try ContentWorld(Self.files)
        let tenure = world.device.start()
        try await tenure.content["piano"].download()
        let old = try await tenure.content["piano"].url(for: "samples/a.wav")
        var changed = Self.files
        changed["samples/renamed.wav"] = changed.removeValue(forKey: "samples/a.wav")
        changed["index.json"] = ContentWorld.bytes(200_000, seed: 3)
        try world.publish(changed)
        world.server.resetCount()
        await tenure.content.refresh()
        guard case .installed(_, .available?) = tenure.content["piano"].state else {
            return #expect(Bool(false), "\(tenure.content["piano"].state)")
        }
        try await tenure.content["piano"].download()
        #expect(try await ContentWorld.contents(of: tenure) == changed)
        #expect(world.server.sent <= 220_000)
        #expect(try Data(contentsOf: old) == Self.files["samples/a.wav"])
    }

    @Test func `fetch only a lost file`() async throws {
        let world = try ContentWorld(Self.files)
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        try FileManager.default.removeItem(at: try await piano.url(for: "samples/b.wav"))
        #expect(await !piano.verify())
        #expect(piano.state == .available(size: 5_000_000))
        world.server.resetCount()
        try await piano.download()
        #expect(world.server.sent < 5_010_000)
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
    }

    @Test func `need the right, and follow a purchase of a product`() async throws {
        let world = try ContentWorld(
            Self.files, unlock: .product("com.example.loops"), store: FakeStore { $0.app = World.newcomer() })
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { $0 != .unknown } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.download() }
        world.device.store.deliverUpdate(World.purchase("com.example.loops"))
        _ = await piano.reaches { if case .available = $0 { true } else { false } }
        try await piano.download()
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
    }

    @Test func `wait for consent on an expensive network, also if it changes midway`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        let world = try ContentWorld(Self.files, faults: [.stall(after: 4_000_000)]) { setup in
            setup.stallTimeout = 60
            setup.network = { conditions }
            setup.options.expensiveNetworkLimit = 1_000_000
        }
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        let seen = await piano.reaches(bytes: 500_000)
        world.server.resetCount()
        network.yield(NetworkCondition(isExpensive: true))
        #expect(await piano.reaches { $0 == .waiting(.consent) } == .waiting(.consent))
        await piano.allowExpensiveNetwork()
        try await download.value
        #expect(world.server.starts.allSatisfy { $0 >= seen }, "\(world.server.ranges)")
    }

    @Test func `wait for space, and continue once there is some`() async throws {
        let free = Locked<Int64>(1_000)
        let world = try ContentWorld(Self.files) { $0.freeSpace = { _ in free.withLock { $0 } } }
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        _ = await piano.reaches { if case .waiting(.space(let missing)) = $0 { missing > 14_000_000 } else { false } }
        free.withLock { $0 = .max }
        await piano.resume()
        try await download.value
        #expect(world.server.sent < Self.size + 10_000)
    }

    @Test func `fail after the server has refused two links, and can be tried again`() async throws {
        let world = try ContentWorld(Self.files, faults: [.status(403), .status(403)])
        let tenure = world.device.start()
        await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await tenure.content["piano"].download() }
        try await tenure.content["piano"].download()
        #expect(try await ContentWorld.contents(of: tenure) == Self.files)
    }

    @Test func `need an app that is new enough, and a catalog that names the pack`() async throws {
        let world = try ContentWorld(Self.files, minimumAppVersion: "3.2") { $0.appVersion = AppVersion("3.1") }
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { $0 == .needsAppUpdate } == .needsAppUpdate)
        await #expect(throws: Tenure.AssetPackError.needsAppUpdate("piano")) { try await piano.download() }
        await #expect(throws: Tenure.AssetPackError.unknownPack("violin")) {
            try await tenure.content["violin"].download()
        }
    }

    @Test func `open offline once installed, and can be removed`() async throws {
        let world = try ContentWorld(Self.files)
        let first = world.device.start()
        try await first.content["piano"].download()
        world.server.stop()
        let tenure = world.device.start()
        for await customer in tenure.updates where !customer.isResolving { break }
        let piano = tenure.content["piano"]
        _ = await piano.reaches { if case .installed = $0 { true } else { false } }
        #expect(try Data(contentsOf: await piano.url(for: "index.json")) == Data("{}".utf8))
        await piano.remove()
        #expect(await tenure.content.packs.map(\.bytesOnDisk) == [0])
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "index.json") }
    }
}
