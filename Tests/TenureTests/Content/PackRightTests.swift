import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `The right to an asset pack` {
    private static let files: [String: Data] = ["a.txt": Data("abc".utf8)]
    private static let loops = "com.example.loops"

    /// A pack that an entitlement or a product unlocks, and a customer with a subscription to it until `end`.
    private static func testBed(
        _ files: [String: Data] = files, unlockedBy kind: String, until end: Date
    ) throws -> ContentTestBed {
        try ContentTestBed(
            files, unlock: kind == "product" ? .product(InventedApp.yearly) : .entitlement("cloud"),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
    }

    private static func isInstalled(_ state: Tenure.AssetPack.State) -> Bool {
        if case .installed = state { true } else { false }
    }

    @Test func `an installed pack opens only for an entitled customer, even after its catalog was lost`() async throws {
        let testBed = try ContentTestBed(
            Self.files, unlock: .product(Self.loops),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.purchase(Self.loops)]
            })
        let first = testBed.device.start()
        try await first.content["piano"].download()
        testBed.server.stop()
        try FileManager.default.removeItem(at: testBed.folder.url("device/content/catalogs"))
        let tenure = testBed.device.start()
        _ = await tenure.content["piano"].reaches(Self.isInstalled)
        _ = try await tenure.content["piano"].url(for: "a.txt")
        testBed.device.store.change {
            $0.transactions = [InventedApp.purchase(Self.loops, revoked: InventedApp.now.addingTimeInterval(-60))]
        }
        let refunded = testBed.device.start { $0.options.whileUndetermined = .deny }
        _ = await refunded.settled()
        #expect(await refunded.content["piano"].reaches { $0 != .unknown && !Self.isInstalled($0) } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) {
            try await refunded.content["piano"].url(for: "a.txt")
        }
        #expect(await refunded.content.packs.first?.bytesOnDisk ?? 0 > 0, "the files are kept")
    }

    @Test func `an installed pack that the catalog has dropped still opens for an entitled customer`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        try testBed.publish(Self.files, named: "violin")
        await tenure.content.refresh()
        #expect(await tenure.content.packs.map(\.name) == ["piano", "violin"])
        guard case .installed(_, nil) = tenure.content["piano"].state else {
            return #expect(Bool(false), "\(tenure.content["piano"].state)")
        }
        _ = try await tenure.content["piano"].url(for: "a.txt")
    }

    @Test func `a product's pack can be used in the policy's grace period while purchases aren't known`() async throws {
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.transactionsBehavior = .throwsAnError
        }
        let testBed = try ContentTestBed(Self.files, unlock: .product(Self.loops), store: store)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        _ = try await piano.url(for: "a.txt")
        testBed.device.time.now += 72 * 3600
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "a.txt") }
    }

    @Test func `an empty list of purchases denies a product's pack only after a request for the product`() async throws
    {
        let store = FakeStore {
            $0.app = InventedApp.newcomer()
            $0.isOffline = true
        }
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID), eras: [Era(name: "free", model: .free)],
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "free")])],
            whileUndetermined: .allow(72 * 3600))
        let testBed = try ContentTestBed(Self.files, unlock: .product(Self.loops), store: store) {
            $0.policy = .policy(policy)
        }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        while !store.now.listedProducts.contains([Self.loops]) { try await Task.sleep(nanoseconds: 5_000_000) }
        _ = await tenure.refresh()
        _ = try await piano.url(for: "a.txt")
        store.change { $0.isOffline = false }
        _ = await tenure.refresh()
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
    }

    @Test func `buying a right doesn't restart a download that ended for lack of the right`() async throws {
        let store = FakeStore { $0.app = InventedApp.newcomer() }
        let testBed = try ContentTestBed(Self.files, unlock: .product(Self.loops), store: store) {
            $0.options.whileUndetermined = .deny
        }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.download() }
        store.deliverUpdate(InventedApp.purchase(Self.loops))
        let state = await piano.reaches { $0 != .notEntitled }
        guard case .available = state else { return #expect(Bool(false), "\(state)") }
        await tenure.content.refresh()
        guard case .available = piano.state else { return #expect(Bool(false), "\(piano.state)") }
        #expect(testBed.server.ranges.isEmpty)
    }

    @Test func `a product's pack has no grace period once the purchases are known`() async throws {
        let store = FakeStore { $0.app = InventedApp.newcomer() }
        let testBed = try ContentTestBed(Self.files, unlock: .product(Self.loops), store: store)
        let first = testBed.device.start()
        _ = await first.settled()
        #expect(await first.content["piano"].reaches { $0 != .unknown } == .notEntitled)
        _ = await first.refresh()
        store.change { $0.transactionsBehavior = .throwsAnError }
        let tenure = testBed.device.start()
        _ = await tenure.settled()
        await tenure.content.refresh()
        #expect(tenure.content["piano"].state == .notEntitled, "a known denial remains")
    }

    @Test(arguments: ["entitlement", "product"])
    func `the right to an asset pack ends with a subscription, without a refresh`(kind: String) async throws {
        let end = InventedApp.now.addingTimeInterval(3600)
        let testBed = try Self.testBed(unlockedBy: kind, until: end)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        _ = try await piano.url(for: "a.txt")
        testBed.device.time.now = end
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "a.txt") }
    }

    @Test func `the right to an asset pack ends with a subscription that the policy doesn't contain`() async throws {
        let (monthly, end) = ("com.example.loops.monthly", InventedApp.now.addingTimeInterval(3600))
        let testBed = try ContentTestBed(
            Self.files, unlock: .product(monthly),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [
                    InventedApp.purchase(
                        monthly, type: .autoRenewable, bought: end.addingTimeInterval(-30 * InventedApp.day),
                        expires: end)
                ]
            })
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        _ = await tenure.settled()
        // The customer's rights by the policy stay as they are.
        testBed.device.time.now = end
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "a.txt") }
    }

    @Test func `the right to an asset pack ends after the length of time that the policy gives its product`()
        async throws
    {
        let season = "com.example.calculator.season"
        let policy = try Policy(
            app: InventedApp.policy().app, eras: InventedApp.policy().eras, buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "season", products: [.init(id: season, length: CalendarPeriod(months: 3))])
            ])
        let testBed = try ContentTestBed(
            Self.files, unlock: .product(season),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.purchase(season, type: .nonRenewing)]
            }
        ) { setup in
            setup.policy = .policy(policy)
            setup.options.whileUndetermined = .deny
        }
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        testBed.device.time.now += 93 * InventedApp.day
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "a.txt") }
    }

    @Test func `the right to an asset pack follows the newest catalog, even for an installed pack`() async throws {
        let testBed = try ContentTestBed(
            Self.files, unlock: .product(Self.loops),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.purchase(Self.loops)]
            })
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        try testBed.publish(Self.files, unlock: .entitlement("cloud"))
        await tenure.content.refresh()
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "a.txt") }
    }

    @Test(arguments: ["entitlement", "product"])
    func `the right to an asset pack and its download continue with a renewed subscription`(kind: String) async throws {
        let end = InventedApp.now.addingTimeInterval(3600)
        let files = ["a.bin": ContentTestBed.bytes(3_000_000)]
        let testBed = try Self.testBed(files, unlockedBy: kind, until: end)
        testBed.server.hold(after: 1_000_000)
        let tenure = testBed.device.start { $0.stallTimeout = 60 }
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        _ = await piano.reaches(bytes: 500_000)
        // The device learns of the renewal when it asks the App Store again.
        testBed.device.store.change {
            $0.transactions.append(
                InventedApp.subscription(until: end.addingTimeInterval(365 * InventedApp.day), id: "410000000000003"))
        }
        testBed.device.time.now = end
        testBed.server.hold(after: nil)
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == files)
    }

    @Test(arguments: ["entitlement", "product"])
    func `while purchases are read, downloads and files of a pack wait for a renewed subscription`(kind: String)
        async throws
    {
        let end = InventedApp.now.addingTimeInterval(3600)
        let testBed = try Self.testBed(unlockedBy: kind, until: end)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        testBed.device.store.change {
            $0.transactions.append(
                InventedApp.subscription(until: end.addingTimeInterval(365 * InventedApp.day), id: "410000000000003"))
            $0.isListingPaused = true
        }
        testBed.device.time.now = end
        let refresh = Task { await tenure.refresh() }
        // The app transaction was read again, the purchases weren't.
        for await customer in tenure.updates where !customer.has("cloud") { break }
        let file = Task { try await piano.url(for: "a.txt") }
        let download = Task { try await piano.download() }
        try await Task.sleep(nanoseconds: 100_000_000)
        testBed.device.store.change { $0.isListingPaused = false }
        _ = try await file.value
        try await download.value
        _ = await refresh.value
    }

    @Test(arguments: ["entitlement", "product"])
    func `files of a pack are refused after a timeout if the App Store never says whether a right was renewed`(
        kind: String
    ) async throws {
        let end = InventedApp.now.addingTimeInterval(3600)
        let testBed = try Self.testBed(unlockedBy: kind, until: end)
        let tenure = testBed.device.start {
            $0.options.appStoreTimeout = 3600
            $0.resolvingTimeout = 0.05
        }
        let piano = tenure.content["piano"]
        try await piano.download()
        testBed.device.store.change { $0.transactionsBehavior = .hangs }
        testBed.device.time.now = end
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.url(for: "a.txt") }
    }

    @Test func `a download continues with a subscription that ends while the first search reads its renewal`()
        async throws
    {
        let end = InventedApp.now.addingTimeInterval(3600)
        let testBed = try ContentTestBed(
            ["a.bin": ContentTestBed.bytes(3_000_000)], unlock: .entitlement("cloud"),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
        testBed.server.hold(after: 1_000_000)
        var first: Tenure? = testBed.device.start { $0.stallTimeout = 60 }
        let before = try #require(first).content["piano"]
        let download = Task { try? await before.download() }
        _ = await before.reaches(bytes: 500_000)
        try await ContentTestBed.end(&first, during: download)
        testBed.device.store.change {
            $0.transactions.append(
                InventedApp.subscription(until: end.addingTimeInterval(365 * InventedApp.day), id: "410000000000003"))
            $0.isListingPaused = true
        }
        let tenure = testBed.device.start { $0.stallTimeout = 60 }
        let piano = tenure.content["piano"]
        _ = await piano.reaches { $0 == .paused }
        await piano.resume()
        testBed.device.time.now = end
        #expect(await piano.reaches { $0 == .notEntitled } == .notEntitled)
        testBed.server.hold(after: nil)
        testBed.device.store.change { $0.isListingPaused = false }
        let state = await piano.reaches { state in
            if case .available = state { true } else { Self.isInstalled(state) }
        }
        #expect(Self.isInstalled(state))
    }

    @Test func `a pack that needs a newer app waits for it, and becomes available after the app's update`()
        async throws
    {
        let testBed = try ContentTestBed(Self.files, minimumAppVersion: "3.2")
        let old = testBed.device.start { $0.appVersion = AppVersion("3.1") }
        #expect(await old.content["piano"].reaches { $0 != .unknown } == .needsAppUpdate)
        let new = testBed.device.start { $0.appVersion = AppVersion("3.2") }
        _ = await new.content["piano"].reaches { if case .available = $0 { true } else { false } }
        try await new.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: new) == Self.files)
    }

    // MARK: Purgeable packs

    @Test func `a pack that the system has deleted becomes available again`() async throws {
        let testBed = try ContentTestBed(Self.files)
        try testBed.publish(Self.files, isPurgeable: true)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        #expect(try await piano.url(for: "a.txt").path.contains("/device/caches/content/"))
        try FileManager.default.removeItem(at: testBed.folder.url("device/caches"))
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) { try await piano.url(for: "a.txt") }
        guard case .available = piano.state else { return #expect(Bool(false), "\(piano.state)") }
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        try FileManager.default.removeItem(at: testBed.folder.url("device/caches"))
        let again = testBed.device.start()
        _ = await again.content["piano"].reaches { if case .available = $0 { true } else { false } }
    }
}
