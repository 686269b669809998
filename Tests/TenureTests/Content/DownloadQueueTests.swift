import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import Testing

@testable import Tenure

/// Several packs, one at a time, and what becomes of their requests.
@Suite(.timeLimit(.minutes(5))) struct `Requests for asset packs` {
    private static let names = ["drums", "flute", "harp"]

    /// Publishes three packs of 1 MB.
    private func testBed(
        _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) throws -> ContentTestBed {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)]) { setup in
            setup.stallTimeout = 60
            change(&setup)
        }
        try testBed.publish(
            Self.names.enumerated().map { index, name in
                try testBed.pack([name: ContentTestBed.bytes(1_000_000, seed: UInt64(index + 1))], named: name)
            })
        return testBed
    }

    private func waits(_ tenure: Tenure, for isTrue: @Sendable (ContentLibrary) async -> Bool) async throws {
        while await !isTrue(tenure.content["drums"].library) { try await Task.sleep(nanoseconds: 5_000_000) }
    }

    private static func isDownloading(_ state: Tenure.AssetPack.State) -> Bool {
        if case .downloading = state { true } else { false }
    }

    @Test func `requests for asset packs are served in the order in which the app asks`() async throws {
        let testBed = try testBed()
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        let order = Locked<[String]>([])
        let watching = Self.names.map { name in
            Task {
                _ = await tenure.content[name].reaches(Self.isDownloading)
                order.withLock { $0.append(name) }
            }
        }
        var downloads: [Task<Void, any Error>] = []
        for (index, name) in Self.names.enumerated() {
            downloads.append(Task { try await tenure.content[name].download() })
            try await waits(tenure) { await $0.requests.count == index + 1 }
        }
        #expect(await tenure.content["harp"].reaches { $0 == .waiting(.turn) } == .waiting(.turn))
        testBed.server.hold(after: nil)
        for download in downloads { try await download.value }
        for task in watching { await task.value }
        #expect(order.withLock { $0 } == Self.names)
    }

    @Test func `a requested asset pack that waits for disk space lets the next pack download`() async throws {
        let free = Locked(false)
        let testBed = try testBed { setup in
            setup.freeSpace = { folder in free.withLock { $0 } || !folder.hasSuffix("/drums") ? .max : 0 }
        }
        let tenure = testBed.device.start()
        let first = Task { try await tenure.content["drums"].download() }
        _ = await tenure.content["drums"].reaches { if case .waiting(.space) = $0 { true } else { false } }
        try await tenure.content["flute"].download()
        free.withLock { $0 = true }
        await tenure.content["drums"].resume()
        try await first.value
    }

    @Test func `a canceled request for an asset pack stays canceled after a relaunch`() async throws {
        let testBed = try testBed()
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        let download = Task { try await tenure.content["drums"].download() }
        while testBed.server.sent < 100_000 { try await Task.sleep(nanoseconds: 5_000_000) }
        await tenure.content["drums"].cancel()
        await #expect(throws: Tenure.AssetPackError.canceled("drums")) { try await download.value }
        testBed.server.hold(after: nil)
        testBed.server.resetCount()
        let again = testBed.device.start()
        _ = await again.content["drums"].reaches { if case .available = $0 { true } else { false } }
        try await again.content["flute"].download()
        guard case .available = again.content["drums"].state else {
            return #expect(Bool(false), "\(again.content["drums"].state)")
        }
        #expect(testBed.server.ranges.count == 1)
    }

    @Test func `a requested asset pack keeps downloading if the task that waits for it is canceled`() async throws {
        let testBed = try testBed()
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        let download = Task { try await tenure.content["drums"].download() }
        while testBed.server.sent < 100_000 { try await Task.sleep(nanoseconds: 5_000_000) }
        download.cancel()
        await #expect(throws: CancellationError.self) { try await download.value }
        testBed.server.hold(after: nil)
        let state = await tenure.content["drums"].reaches {
            switch $0 {
            case .installed, .available: true
            default: false
            }
        }
        guard case .installed(_, nil) = state else { return #expect(Bool(false), "\(state)") }
    }

    @Test func `a downloading asset pack reports its speed and remaining time`() async throws {
        let testBed = try testBed()
        // 0.4 MB a second.
        testBed.server.slowDown(40_000)
        let tenure = testBed.device.start()
        let download = Task { try await tenure.content["drums"].download() }
        let state = await tenure.content["drums"].reaches {
            switch $0 {
            case .downloading(let progress): progress.timeRemaining != nil
            case .installed: true
            default: false
            }
        }
        guard case .downloading(let progress) = state else { return #expect(Bool(false), "\(state)") }
        #expect((progress.bytesPerSecond ?? 0) > 1000 && (progress.timeRemaining ?? 0) > 0)
        #expect(progress.total == 1_000_000 && progress.fraction > 0 && progress.fraction < 1)
        testBed.server.slowDown(0)
        try await download.value
    }

    @Test func `a downloading asset pack reports the speed of the last seconds`() async throws {
        var rate = TransferRate()
        rate.note(0)
        try await Task.sleep(nanoseconds: 600_000_000)
        rate.note(600)
        let slow = try #require(rate.bytesPerSecond)
        try await Task.sleep(nanoseconds: 600_000_000)
        rate.note(100_000_000)
        #expect(try #require(rate.bytesPerSecond) > 10 * slow)
    }

    @Test func `requests for an asset pack are repeated with growing pauses while the server fails`() async throws {
        let testBed = try testBed()
        testBed.server.add([ContentServer.Fault](repeating: .status(500), count: 1000))
        let tenure = testBed.device.start()
        let drums = tenure.content["drums"]
        let download = Task { try? await drums.download() }
        #expect(await drums.reaches { $0 == .waiting(.network) } == .waiting(.network))
        let states = Locked<[Tenure.AssetPack.State]>([])
        let watching = Task { for await state in drums.states { states.withLock { $0.append(state) } } }
        let before = testBed.server.ranges.count
        try await Task.sleep(nanoseconds: 2_000_000_000)
        let requests = testBed.server.ranges.count - before
        #expect(requests < 8, "\(requests) requests in two seconds")
        // The app shows one state meanwhile.
        #expect(states.withLock { $0 } == [.waiting(.network)])
        watching.cancel()
        await drums.cancel()
        _ = await download.value
    }

    @Test func `a downloading asset pack waits for the network after ten seconds without a byte`() async throws {
        let usual = Setup(
            access: FakeStore { $0.app = InventedApp.owner() }, storage: MemoryStateStorage(), policy: nil)
        let testBed = try testBed { $0.stallTimeout = usual.stallTimeout }
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        let download = Task { try await tenure.content["drums"].download() }
        while testBed.server.sent < 100_000 { try await Task.sleep(nanoseconds: 5_000_000) }
        let start = ContinuousClock.now
        _ = await tenure.content["drums"].reaches { $0 == .waiting(.network) }
        let passed = ContinuousClock.now - start
        #expect(passed > .seconds(9) && passed < .seconds(40), "\(passed)")
        testBed.server.hold(after: nil)
        try await download.value
    }
}
