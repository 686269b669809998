import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import Testing

@testable import Tenure

/// A product may unlock several packs: `loops` by itself, and `piano` through the entitlement that it grants.
@Suite(.timeLimit(.minutes(5))) struct `Finishing a purchase after its content` {
    private static let files: [String: Data] = ["a.txt": Data("abc".utf8)]
    private static let loops = "com.example.loops"
    private static let sold = InventedApp.everything
    private static let transaction = "410000000000001"

    /// - Parameter packs: the published packs.
    private static func testBed(
        _ packs: [String] = ["loops", "piano"], minimumAppVersion: String? = nil,
        _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) throws -> ContentTestBed {
        let testBed = try ContentTestBed(
            files, minimumAppVersion: minimumAppVersion, store: FakeStore { $0.app = InventedApp.newcomer() }
        ) {
            $0.options.finishing = .afterContent(of: [sold])
            $0.appVersion = AppVersion("3.1")
            change(&$0)
        }
        try publish(packs, in: testBed, minimumAppVersion: minimumAppVersion)
        return testBed
    }

    /// - Parameter minimumAppVersion: what `piano` needs.
    private static func publish(
        _ names: [String], in testBed: ContentTestBed, minimumAppVersion: String? = nil
    ) throws {
        try testBed.publish(
            names.map { name in
                let unlock = ["loops": ContentCatalog.Unlock.product(sold), "strings": .entitlement("cloud")][name]
                return try testBed.pack(
                    files, unlock: unlock ?? .entitlement("everything"),
                    minimumAppVersion: name == "piano" ? minimumAppVersion : nil, named: name)
            })
    }

    private static func buy(_ testBed: ContentTestBed) {
        testBed.device.store.deliverUpdate(InventedApp.purchase(sold))
    }

    private static func download(_ name: String, _ tenure: Tenure) async throws {
        let pack = tenure.content[name]
        _ = await pack.reaches { if case .available = $0 { true } else { false } }
        try await pack.download()
    }

    /// Waits until the purchase is finished.
    private static func finished(_ testBed: ContentTestBed) async throws {
        while testBed.device.store.now.finished.isEmpty { try await Task.sleep(nanoseconds: 5_000_000) }
        #expect(testBed.device.store.now.finished == [transaction])
    }

    /// Each refresh of the catalogs looks whether a purchase can be finished.
    private static func isUnfinished(_ testBed: ContentTestBed, _ tenure: Tenure) async -> Bool {
        _ = await tenure.refresh()
        await tenure.content.refresh()
        return testBed.device.store.now.finished.isEmpty
    }

    @Test func `a purchase is finished once its pack is installed`() async throws {
        let store = FakeStore { $0.app = InventedApp.newcomer() }
        let testBed = try ContentTestBed(Self.files, unlock: .product(Self.loops), store: store) {
            $0.options.finishing = .afterContent(of: [Self.loops])
        }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        _ = await piano.reaches { $0 == .notEntitled }
        store.deliverUpdate(InventedApp.purchase(Self.loops))
        _ = await piano.reaches { if case .available = $0 { true } else { false } }
        #expect(store.now.finished == [])
        try await piano.download()
        while store.now.finished.isEmpty { try await Task.sleep(nanoseconds: 5_000_000) }
        #expect(store.now.finished == ["410000000000001"])
    }

    @Test func `a purchase is finished at once if its packs were installed before`() async throws {
        // The pack is installed through the entitlement, which an owner has. Then they buy the product too.
        let store = FakeStore { $0.app = InventedApp.owner() }
        let testBed = try ContentTestBed(Self.files, store: store) {
            $0.options.finishing = .afterContent(of: [InventedApp.everything])
        }
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        store.deliverUpdate(InventedApp.purchase(InventedApp.everything))
        while store.now.finished.isEmpty { try await Task.sleep(nanoseconds: 5_000_000) }
        #expect(store.now.finished == ["410000000000001"])
    }

    // MARK: Several packs

    @Test(arguments: [["loops", "piano"], ["piano", "loops"]])
    func `a purchase is finished when every pack that the product unlocks is installed`(order: [String]) async throws {
        let testBed = try Self.testBed(["loops", "piano", "strings"])
        Self.buy(testBed)
        let tenure = testBed.device.start()
        try await Self.download(order[0], tenure)
        #expect(await Self.isUnfinished(testBed, tenure))
        try await Self.download(order[1], tenure)
        try await Self.finished(testBed)
        #expect(tenure.content["strings"].state == .notEntitled, "the product doesn't unlock this pack")
    }

    @Test func `a purchase stays unfinished after a relaunch between the downloads of its two packs`() async throws {
        let testBed = try Self.testBed()
        Self.buy(testBed)
        var first: Tenure? = testBed.device.start()
        try await Self.download("piano", try #require(first))
        first = nil
        let tenure = testBed.device.start()
        #expect(await Self.isUnfinished(testBed, tenure))
        try await Self.download("loops", tenure)
        try await Self.finished(testBed)
    }

    @Test func `a purchase is finished at the next start if the app ended right after the last pack was installed`()
        async throws
    {
        let testBed = try Self.testBed()
        // As if the app had ended: this client finishes no purchase.
        Self.buy(testBed)
        let first = testBed.device.start { $0.options.finishing = .never }
        for name in ["loops", "piano"] { try await Self.download(name, first) }
        testBed.server.stop()
        #expect(testBed.device.store.now.finished == [])
        let tenure = testBed.device.start()
        try await Self.finished(testBed)
        #expect(tenure.content["piano"].state != .unknown)
    }

    @Test func `finishing a purchase doesn't wait for a pack that the catalog has dropped`() async throws {
        let testBed = try Self.testBed()
        Self.buy(testBed)
        let tenure = testBed.device.start()
        try await Self.download("loops", tenure)
        #expect(await Self.isUnfinished(testBed, tenure))
        try Self.publish(["loops"], in: testBed)
        await tenure.content.refresh()
        try await Self.finished(testBed)
    }

    @Test func `a purchase is finished even if the catalog has dropped its installed packs`() async throws {
        let testBed = try Self.testBed()
        Self.buy(testBed)
        let first = testBed.device.start { $0.options.finishing = .never }
        for name in ["loops", "piano"] { try await Self.download(name, first) }
        try Self.publish(["strings"], in: testBed)
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        try await Self.finished(testBed)
    }

    @Test func `finishing a purchase waits for a pack that needs a newer version of the app`() async throws {
        let testBed = try Self.testBed(minimumAppVersion: "3.2")
        Self.buy(testBed)
        var old: Tenure? = testBed.device.start()
        do {
            let tenure = try #require(old)
            try await Self.download("loops", tenure)
            #expect(await tenure.content["piano"].reaches { $0 == .needsAppUpdate } == .needsAppUpdate)
            #expect(await Self.isUnfinished(testBed, tenure))
        }
        old = nil
        let updated = testBed.device.start { $0.appVersion = AppVersion("3.2") }
        #expect(await Self.isUnfinished(testBed, updated))
        try await Self.download("piano", updated)
        try await Self.finished(testBed)
    }

    @Test func `finishing a purchase waits for a pack that a newer catalog adds before the other packs are installed`()
        async throws
    {
        let testBed = try Self.testBed(["piano"])
        let tenure = testBed.device.start()
        _ = await tenure.content["piano"].reaches { $0 == .notEntitled }
        try Self.publish(["piano", "loops"], in: testBed)
        await tenure.content.refresh()
        Self.buy(testBed)
        try await Self.download("piano", tenure)
        #expect(await Self.isUnfinished(testBed, tenure))
        try await Self.download("loops", tenure)
        try await Self.finished(testBed)
    }

    @Test func `finishing a purchase waits for a content source that hasn't listed its packs yet`() async throws {
        let (testBed, other) = (try Self.testBed(["loops"]), try Self.testBed(["piano"]))
        let source = LateSource(other.published)
        let (url, keys, otherKeys) = (testBed.server.url, testBed.keys, other.keys)
        Self.buy(testBed)
        let tenure = testBed.device.start {
            $0.options.content = [.webServer(url, keys: keys), .custom(source, keys: otherKeys)]
        }
        try await Self.download("loops", tenure)
        #expect(await Self.isUnfinished(testBed, tenure))
        source.isReady = true
        await tenure.content.refresh()
        #expect(testBed.device.store.now.finished == [])
        try await Self.download("piano", tenure)
        try await Self.finished(testBed)
        withExtendedLifetime(other) {}
    }

    @Test func `finishing a purchase doesn't wait for a service that delivers no content`() async throws {
        let testBed = try Self.testBed()
        let (url, keys, location) = (testBed.server.url, testBed.keys, testBed.location)
        try await RealService.run { service in
            let device = service.device(try ServedContent.buyer()) { setup in
                setup.options.finishing = .afterContent(of: [Self.sold])
                setup.options.content = [.webServer(url, keys: keys), .service(keys: keys)]
                setup.contentLocation = location
            }
            device.store.change { $0.unfinished = $0.transactions }
            let tenure = device.start()
            try await Self.download("loops", tenure)
            await tenure.content.refresh()
            #expect(device.store.now.finished == [])
            try await Self.download("piano", tenure)
            while device.store.now.finished.isEmpty { try await Task.sleep(nanoseconds: 5_000_000) }
            #expect(device.store.now.finished == [Self.transaction])
        }
        withExtendedLifetime(testBed) {}
    }

    @Test func `finishing a purchase waits for a web server's packs only once the server has a catalog`() async throws {
        let (testBed, other) = (try Self.testBed(["loops"]), try Self.testBed(["piano"]))
        let (url, keys, otherURL, otherKeys) = (testBed.server.url, testBed.keys, other.server.url, other.keys)
        let (catalog, aside) = (other.published + "/catalog.jws", other.published + "/aside.jws")
        try FileManager.default.moveItem(atPath: catalog, toPath: aside)
        Self.buy(testBed)
        let tenure = testBed.device.start {
            $0.options.content = [.webServer(url, keys: keys), .webServer(otherURL, keys: otherKeys)]
        }
        try await Self.download("loops", tenure)
        try await Self.finished(testBed)
        try FileManager.default.moveItem(atPath: aside, toPath: catalog)
        await tenure.content.refresh()
        testBed.device.store.change { $0.finished = [] }
        testBed.device.store.deliverUpdate(InventedApp.purchase(Self.sold, id: "410000000000002"))
        #expect(await Self.isUnfinished(testBed, tenure))
    }

    @Test func `finishing a purchase waits until the service says which entitlements the product grants`() async throws
    {
        try await ServedContent.run(unlock: .product(Self.sold)) { served in
            try served.testBed.publish([
                served.testBed.pack(Self.files, unlock: .product(Self.sold)),
                served.testBed.pack(Self.files, named: "strings"),
            ])
            let line = served.service.line
            line.condition = .rejecting("/v1/products")
            let device = served.device(try ServedContent.buyer()) { setup in
                setup.options.finishing = .afterContent(of: [Self.sold])
            }
            device.store.change { $0.unfinished = $0.transactions }
            let tenure = device.start()
            try await Self.download("piano", tenure)
            await tenure.content.refresh()
            #expect(device.store.now.finished == [])
            line.condition = .up
            try await Self.download("strings", tenure)
            _ = await tenure.refresh()
            while device.store.now.finished.isEmpty { try await Task.sleep(nanoseconds: 5_000_000) }
            #expect(device.store.now.finished == [Self.transaction])
        }
    }

    @Test func `a purchase is finished after another process has installed its last pack`() async throws {
        let testBed = try Self.testBed()
        Self.buy(testBed)
        let tenure = testBed.device.start()
        try await Self.download("loops", tenure)
        #expect(await Self.isUnfinished(testBed, tenure))
        let location = testBed.location
        let (url, keys) = (testBed.server.url, testBed.keys)
        let other = Device(FakeStore { $0.app = InventedApp.owner() }) { setup in
            setup.options.content = .webServer(url, keys: keys)
            setup.contentLocation = location
        }
        try await Self.download("piano", other.start())
        try await Self.finished(testBed)
    }
}
