import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import TestTransport
import Testing

@testable import Tenure

/// Expensive networks, and those in Low Data Mode.
@Suite(.timeLimit(.minutes(5))) struct `The consent to downloads` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(9_000_000), "samples/b.wav": ContentTestBed.bytes(5_000_000, seed: 2),
        "index.json": Data("{}".utf8), "empty.txt": Data(),
    ]

    /// Publishes a pack of 1 MB.
    private func drums(_ change: @escaping @Sendable (inout Setup) -> Void) throws -> ContentTestBed {
        let testBed = try ContentTestBed(["a.txt": Data("abc".utf8)]) { setup in
            setup.stallTimeout = 60
            change(&setup)
        }
        try testBed.publish(["drums": ContentTestBed.bytes(1_000_000)], named: "drums")
        return testBed
    }

    private func waits(_ tenure: Tenure, for isTrue: @Sendable (ContentLibrary) async -> Bool) async throws {
        while await !isTrue(tenure.content["drums"].library) { try await Task.sleep(nanoseconds: 5_000_000) }
    }

    @Test func `a download asks for consent on an expensive network, even if the network changes midway`() async throws
    {
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

    @Test func `a download asks for consent in Low Data Mode, however small it is`() async throws {
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

    @Test(arguments: ["canceled", "paused"])
    func `consent to downloads depends on the total missing bytes of all packs that aren't paused`(end: String)
        async throws
    {
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
        if end == "paused" { await flute.pause() } else { await flute.cancel() }
        try await downloads[0].value
        downloads[1].cancel()
    }

    @Test func `consent to downloads depends only on the bytes that are still missing`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        let testBed = try drums { setup in
            setup.network = { conditions }
            setup.options.expensiveNetworkLimit = 500_000
        }
        testBed.server.hold(after: 800_000)
        let tenure = testBed.device.start()
        let drums = tenure.content["drums"]
        let download = Task { try await drums.download() }
        _ = await drums.reaches(bytes: 600_000)
        await drums.pause()
        try await waits(tenure) { await $0.runningDownload == nil }
        network.yield(NetworkCondition(isExpensive: true))
        try await waits(tenure) { await $0.network != nil }
        testBed.server.hold(after: nil)
        await drums.resume()
        let state = await drums.reaches {
            switch $0 {
            case .waiting(.consent), .installed: true
            default: false
            }
        }
        guard case .installed = state else { return #expect(Bool(false), "\(state)") }
        try await download.value
    }

    @Test func `a download needs no consent anymore when the network is cheap again`() async throws {
        let (conditions, network) = AsyncStream.makeStream(of: NetworkCondition.self)
        network.yield(NetworkCondition(isExpensive: true))
        let testBed = try drums { setup in
            setup.network = { conditions }
            setup.options.expensiveNetworkLimit = 500_000
        }
        let tenure = testBed.device.start()
        try await waits(tenure) { await $0.network != nil }
        let download = Task { try await tenure.content["drums"].download() }
        #expect(await tenure.content["drums"].reaches { $0 == .waiting(.consent) } == .waiting(.consent))
        network.yield(NetworkCondition())
        try await download.value
    }

    @Test func `consent to downloads is kept after a relaunch`() async throws {
        let testBed = try drums { setup in
            setup.network = {
                AsyncStream { $0.yield(NetworkCondition(isExpensive: true, isConstrained: true)) }
            }
            setup.options.expensiveNetworkLimit = 500_000
        }
        testBed.server.hold(after: 100_000)
        var first: Tenure? = testBed.device.start()
        let drums = try #require(first).content["drums"]
        let library = drums.library
        while await library.network == nil { try await Task.sleep(nanoseconds: 5_000_000) }
        let waiting = Task { try? await drums.download() }
        #expect(await drums.reaches { $0 == .waiting(.consent) } == .waiting(.consent))
        await drums.allowExpensiveNetwork()
        while testBed.server.sent < 100_000 { try await Task.sleep(nanoseconds: 5_000_000) }
        waiting.cancel()
        first = nil
        while await library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        testBed.server.hold(after: nil)
        let tenure = testBed.device.start()
        let state = await tenure.content["drums"].reaches {
            switch $0 {
            case .installed, .waiting(.consent): true
            default: false
            }
        }
        guard case .installed = state else { return #expect(Bool(false), "\(state)") }
    }

    @Test(arguments: [
        (500_000, false, [false, false]), (5_000_000, false, [true, false]), (500_000, true, [true, true]),
    ])
    func `consent to downloads decides which networks the transport may use`(
        limit: Int, hasConsent: Bool, allowed: [Bool]
    ) async throws {
        let transport = ArrangedTransport()
        let testBed = try drums { setup in
            setup.contentTransport = transport
            setup.options.expensiveNetworkLimit = Int64(limit)
        }
        testBed.server.hold(after: 100_000)
        let tenure = testBed.device.start()
        let download = Task { try await tenure.content["drums"].download() }
        while testBed.server.sent < 100_000 { try await Task.sleep(nanoseconds: 5_000_000) }
        if hasConsent {
            await tenure.content["drums"].allowExpensiveNetwork()
            await tenure.content["drums"].pause()
            try await waits(tenure) { await $0.runningDownload == nil }
            transport.forget()
            await tenure.content["drums"].resume()
        }
        testBed.server.hold(after: nil)
        try await download.value
        let requests = transport.requests
        #expect(!requests.isEmpty)
        for request in requests {
            #expect([request.allowsExpensiveNetwork, request.allowsConstrainedNetwork] == allowed)
        }
    }
}
