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

    @Test func `are installed, open and equal to what was published`() async throws {
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

    @Test func `survive an unreliable connection without fetching much again`() async throws {
        let testBed = try ContentTestBed(
            Self.files,
            faults: [
                .cut(after: 1_000_000), .status(500), .stall(after: 500_000), .status(429, headers: ["Retry-After: 0"]),
                .ignoreRange, .wrongRange, .flip(at: 100_000), .cut(after: 700_000),
            ])
        // 40 MB a second.
        testBed.server.slowDown(400)
        let tenure = testBed.device.start()
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
        #expect(testBed.server.faultsLeft == 0)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        // One chunk was corrupted. Bytes in the kernel's buffers count as sent when a connection closes.
        let buffers = 4 * 1_500_000
        #expect(testBed.server.sent <= Int(1.1 * Double(Self.size)) + (4 << 20) + buffers)
    }

    @Test func `continue after a relaunch from what is on the disk`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.stall(after: 4_000_000)]) { $0.stallTimeout = 60 }
        var first: Tenure? = testBed.device.start()
        let piano = try #require(first).content["piano"]
        let waiting = Task { try? await piano.download() }
        let seen = await piano.reaches(bytes: 3_000_000)
        waiting.cancel()
        let library = piano.library
        first = nil
        while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        testBed.server.resetCount()
        let tenure = testBed.device.start()
        let state = await tenure.content["piano"].reaches { if case .installed = $0 { true } else { false } }
        guard case .installed(_, nil) = state else { return #expect(Bool(false), "\(state)") }
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.starts.allSatisfy { $0 >= seen }, "\(testBed.server.ranges)")
    }

    @Test func `that were paused stay paused after a relaunch, and resume fetches nothing again`() async throws {
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
        while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        testBed.server.resetCount()
        let tenure = testBed.device.start()
        #expect(await tenure.content["piano"].reaches { $0 != .unknown && $0 != .notEntitled } == .paused)
        await tenure.content["piano"].resume()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(testBed.server.starts.allSatisfy { $0 >= seen }, "\(testBed.server.ranges)")
    }

    @Test func `fetch only the changed files of an update, whatever the others are called`() async throws {
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

    @Test func `free the space of an old version that no process uses`() async throws {
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
        while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        let new = try FileManager.default.contentsOfDirectory(atPath: versions)
        #expect(new.count == 1 && new != old, "\(old), then \(new)")
        #expect(try await ContentTestBed.contents(of: tenure) == changed)
    }

    @Test func `fetch only a lost file`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        try FileManager.default.removeItem(at: try await piano.url(for: "samples/b.wav"))
        #expect(await !piano.verify())
        #expect(piano.state == .available(size: 5_000_000))
        testBed.server.resetCount()
        try await piano.download()
        #expect(testBed.server.sent < 5_010_000)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `need the right, and follow a purchase of a product`() async throws {
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

    @Test func `wait for consent on an expensive network, also if it changes midway`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        let testBed = try ContentTestBed(Self.files, faults: [.stall(after: 4_000_000)]) { setup in
            setup.stallTimeout = 60
            setup.network = { conditions }
            setup.options.expensiveNetworkLimit = 1_000_000
        }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        let seen = await piano.reaches(bytes: 500_000)
        testBed.server.resetCount()
        network.yield(NetworkCondition(isExpensive: true))
        #expect(await piano.reaches { $0 == .waiting(.consent) } == .waiting(.consent))
        await piano.allowExpensiveNetwork()
        try await download.value
        #expect(testBed.server.starts.allSatisfy { $0 >= seen }, "\(testBed.server.ranges)")
    }

    @Test func `wait for space, and continue once there is some`() async throws {
        let free = Locked<Int64>(1_000)
        let testBed = try ContentTestBed(Self.files) { $0.freeSpace = { _ in free.withLock { $0 } } }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        _ = await piano.reaches { if case .waiting(.space(let missing)) = $0 { missing > 14_000_000 } else { false } }
        free.withLock { $0 = .max }
        await piano.resume()
        try await download.value
        #expect(testBed.server.sent < Self.size + 10_000)
    }

    @Test func `wait until the date that the server names, counted by the server's clock`() async throws {
        // The server's clock is years behind.
        let fields = ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT"]
        let testBed = try ContentTestBed(Self.files, faults: [.status(503, headers: fields)])
        let tenure = testBed.device.start()
        let started = ContinuousClock.now
        try await tenure.content["piano"].download()
        #expect(ContinuousClock.now - started >= .seconds(3))
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `are retried soon if the date is in the past or can't be read`() async throws {
        let over = ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:00:00 GMT"]
        let faults: [ContentServer.Fault] = [
            .status(503, headers: over), .status(503, headers: ["Retry-After: tomorrow"]),
            .status(503, headers: ["Retry-After: Sun, 06 Nov 2094 08:49:37 GMT"]),
        ]
        let testBed = try ContentTestBed(Self.files, faults: faults)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(testBed.server.faultsLeft == 0)
    }

    @Test func `fail after a chunk has arrived with wrong bytes five times`() async throws {
        let flips = [ContentServer.Fault](repeating: .flip(at: 0), count: 20)
        let testBed = try ContentTestBed(Self.files, faults: flips)
        let tenure = testBed.device.start()
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await tenure.content["piano"].download() }
        #expect(testBed.server.faultsLeft >= 10)
    }

    @Test func `take no bytes from a response with another range`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.shiftedRange])
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        // The client requests the same range again, so it kept nothing of the response.
        let ranges = testBed.server.ranges
        #expect(ranges.count == 2 && Set(ranges).count == 1, "\(ranges)")
    }

    @Test(arguments: [
        (ContentServer.Fault.ignoreRange, "byte ranges"),
        (.status(302, headers: ["Location: /elsewhere"]), "redirects"),
    ])
    func `name a server in the log that has no ranges, or redirects, once`(
        fault: ContentServer.Fault, reason: String
    ) async throws {
        let lines = Locked<[String]>([])
        let testBed = try ContentTestBed(Self.files, faults: [fault, fault]) { setup in
            setup.options.log = Tenure.Log { _, line in lines.withLock { $0.append(line) } }
        }
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        let address = testBed.server.url.absoluteString
        #expect(lines.withLock { $0.count { $0.contains(address) && $0.contains(reason) } } == 1)
    }

    @Test func `wait for consent in Low Data Mode, however small they are`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        network.yield(NetworkCondition(isExpensive: false, isConstrained: true))
        let testBed = try ContentTestBed(["index.json": Data("{}".utf8)]) { $0.network = { conditions } }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        // Before the network's condition is known, a download wouldn't wait.
        while await piano.library.network == nil { try await Task.sleep(nanoseconds: 2_000_000) }
        let download = Task { try await piano.download() }
        let isWaiting: (Tenure.AssetPack.State) -> Bool = {
            switch $0 {
            case .waiting(.consent), .installed: true
            default: false
            }
        }
        #expect(await piano.reaches(isWaiting) == .waiting(.consent))
        await piano.allowExpensiveNetwork()
        try await download.value
    }

    @Test func `count the missing bytes of all packs for the limit of expensive networks`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        let testBed = try ContentTestBed(Self.files) { setup in
            setup.stallTimeout = 60
            setup.network = { conditions }
            setup.options.expensiveNetworkLimit = 1_500_000
        }
        let packs = try ["drums", "flute"].map { name in
            try testBed.pack([name: ContentTestBed.bytes(1_000_000, seed: name == "drums" ? 7 : 8)], named: name)
        }
        try testBed.publish(packs)
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        let (drums, flute) = (tenure.content["drums"], tenure.content["flute"])
        let downloads = [drums, flute].map { pack in Task { try await pack.download() } }
        let library = drums.library
        while await library.requests.count < 2 || testBed.server.sent < 100_000 {
            try await Task.sleep(nanoseconds: 5_000_000)
        }
        network.yield(NetworkCondition(isExpensive: true))
        for pack in [drums, flute] {
            #expect(await pack.reaches { $0 == .waiting(.consent) } == .waiting(.consent))
        }
        testBed.server.hold(after: nil)
        // Below the limit, a pack alone needs no consent.
        await flute.cancel()
        try await downloads[0].value
        await #expect(throws: Tenure.AssetPackError.canceled("flute")) { try await downloads[1].value }
    }

    @Test func `fail the download, and install nothing, if a manifest isn't what its name says`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let publication = try testBed.publish(Self.files)
        let version = try #require(publication.packs.first?.version.manifest)
        let path = testBed.published + "/" + version.description
        // Another manifest of the same size, for the same archive.
        let text = try String(contentsOfFile: path, encoding: .utf8).replacingOccurrences(
            of: "index.json", with: "hacks.json")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let tenure = testBed.device.start()
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await tenure.content["piano"].download() }
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) {
            try await tenure.content["piano"].url(for: "")
        }
    }

    @Test func `never change a file that an installed version shares`() async throws {
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
        while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        let file = try FileHandle(forUpdating: old)
        try file.truncate(atOffset: 1_000)
        try file.close()
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == newer)
        // The old file is as it was, so what another process reads from it doesn't change.
        #expect(try Data(contentsOf: old).count == 1_000)
    }

    @Test func `fail after the server has refused two links, and can be tried again`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.status(403), .status(403)])
        let tenure = testBed.device.start()
        await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await tenure.content["piano"].download() }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `need an app that is new enough, and a catalog that names the pack`() async throws {
        let testBed = try ContentTestBed(Self.files, minimumAppVersion: "3.2") { $0.appVersion = AppVersion("3.1") }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        #expect(await piano.reaches { $0 == .needsAppUpdate } == .needsAppUpdate)
        await #expect(throws: Tenure.AssetPackError.needsAppUpdate("piano")) { try await piano.download() }
        await #expect(throws: Tenure.AssetPackError.unknownPack("violin")) {
            try await tenure.content["violin"].download()
        }
    }

    @Test func `open offline once installed, and can be removed`() async throws {
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
