import CommandRunner
import Foundation
import TenureContent
import TenureCore
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `Several content sources, and starts without a network` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(2_000_000), "index.json": Data("{}".utf8),
    ]

    @Test func `a download finishes from its first source, even if a preferred source has another version`()
        async throws
    {
        var newer = Self.files
        newer["index.json"] = Data("{\"version\":2}".utf8)
        let (testBed, other) = (try ContentTestBed(Self.files), try ContentTestBed(newer))
        let (url, keys, otherKeys) = (testBed.server.url, testBed.keys, other.keys)
        let preferred = LateSource(other.published)
        testBed.server.hold(after: 1_000_000)
        let tenure = testBed.device.start { setup in
            setup.options.content = [.custom(preferred, keys: otherKeys), .webServer(url, keys: keys)]
            setup.stallTimeout = 60
        }
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        _ = await piano.reaches(bytes: 500_000)
        preferred.isReady = true
        await tenure.content.refresh()
        await piano.pause()
        while await piano.library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
        testBed.server.hold(after: nil)
        await piano.resume()
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        guard case .installed(_, .available?) = piano.state else { return #expect(Bool(false), "\(piano.state)") }
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == newer)
    }

    @Test(arguments: ["entitlement", "product"])
    func `an installed pack opens at once after a relaunch without a network`(kind: String) async throws {
        let loops = "com.example.loops"
        let testBed = try ContentTestBed(
            Self.files, unlock: kind == "product" ? .product(loops) : .entitlement("everything"),
            store: FakeStore {
                $0.app = InventedApp.owner()
                $0.transactions = [InventedApp.purchase(loops)]
            })
        let first = testBed.device.start()
        try await first.content["piano"].download()
        _ = await first.refresh()
        testBed.server.stop()
        for _ in 0..<20 {
            let tenure = testBed.device.start()
            let url = try await tenure.content["piano"].url(for: "index.json")
            #expect(try Data(contentsOf: url) == Data("{}".utf8))
        }
        for _ in 0..<20 {
            let tenure = testBed.device.start()
            for await state in tenure.content["piano"].states {
                if case .installed = state { break }
                #expect(state == .unknown, "in any other state, the app would offer a purchase to an owner")
            }
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1])
    func `a content source may report any progress numbers without a crash`(fraction: Double) async throws {
        let testBed = try ContentTestBed(Self.files)
        let (source, keys) = (LateSource(testBed.published, fraction: fraction), testBed.keys)
        source.isReady = true
        let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `the packs of a catalog are known after a relaunch without a network`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let first = testBed.device.start()
        _ = await first.content["piano"].reaches { if case .available = $0 { true } else { false } }
        testBed.server.stop()
        let tenure = testBed.device.start()
        _ = await tenure.settled()
        await tenure.content.refresh()
        let state = tenure.content["piano"].state
        guard case .available = state else { return #expect(Bool(false), "\(state)") }
    }
}
