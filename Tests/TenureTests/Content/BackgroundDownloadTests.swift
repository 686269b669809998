import CommandRunner
import Foundation
import TenureContent
import TenureCore
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `Downloads in the background` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(6_000_000), "samples/b.wav": ContentTestBed.bytes(3_000_000, seed: 2),
    ]
    private static let size = 9_000_000
    private static let other: [String: Data] = ["loop.wav": ContentTestBed.bytes(2_000_000, seed: 3)]

    /// An app with two packs. The first pack is being downloaded.
    private final class App: Sendable {
        let testBed: ContentTestBed
        let system: SystemDownloads
        private let device = Locked<[AsyncStream<DeviceEvent>.Continuation]>([])

        init(
            faults: [ContentServer.Fault] = [], unlock: ContentCatalog.Unlock = .entitlement("everything"),
            store: FakeStore = FakeStore { $0.app = InventedApp.owner() }
        ) throws {
            system = try SystemDownloads()
            testBed = try ContentTestBed(files, store: store, faults: faults)
            try testBed.publish([testBed.pack(files, unlock: unlock), testBed.pack(other, named: "violin")])
            // A busy machine doesn't finish the download before the app leaves.
            testBed.server.hold(after: 3_000_000)
        }

        func start(_ change: @escaping @Sendable (inout Setup) -> Void = { _ in }) -> Tenure {
            testBed.device.start { [system, device] setup in
                setup.background = system
                setup.events = {
                    let (events, continuation) = AsyncStream.makeStream(of: DeviceEvent.self)
                    device.withLock { $0.append(continuation) }
                    return events
                }
                setup.stallTimeout = 30
                change(&setup)
            }
        }

        /// The system starts the app to report background downloads. However busy the machine is, the app doesn't take
        /// itself to be in the foreground before the test passes on the report.
        func startBySystem(_ change: @escaping @Sendable (inout Setup) -> Void = { _ in }) -> Tenure {
            start { setup in
                setup.foregroundWait = 3600
                change(&setup)
            }
        }

        func send(_ event: DeviceEvent) { device.withLock { for listener in $0 { listener.yield(event) } } }

        /// Leaves the foreground, and waits until the system has the downloads. Then the server sends the rest.
        func leave(orders: Int) async throws {
            let requests = testBed.server.ranges.count
            send(.appEnteredBackground)
            while system.orders.count < orders { try await Task.sleep(nanoseconds: 5_000_000) }
            // The app has canceled its own requests, and may close their connections later.
            testBed.server.hold(after: nil, closing: requests)
        }

        /// Downloads the first pack, and leaves the foreground while it arrives.
        func downloadAndLeave(
            orders: Int = 1, _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
        ) async throws -> (tenure: Tenure, piano: Tenure.AssetPack, download: Task<Void, any Error>) {
            let tenure = start(change)
            let piano = tenure.content["piano"]
            let download = Task { try await piano.download() }
            _ = await piano.reaches(bytes: 2_500_000)
            try await leave(orders: orders)
            return (tenure, piano, download)
        }

        /// Requests both packs, and returns when the second pack waits for the first pack.
        func downloadBoth(with tenure: Tenure) async throws -> [Task<Void, any Error>] {
            let (piano, violin) = (tenure.content["piano"], tenure.content["violin"])
            var downloads = [Task { try await piano.download() }]
            _ = await piano.reaches(bytes: 500_000)
            downloads.append(Task { try await violin.download() })
            let library = piano.library
            while await library.requests.count < 2 { try await Task.sleep(nanoseconds: 5_000_000) }
            return downloads
        }
    }

    @Test func `background downloads continue while the app isn't running, and a relaunch installs them`() async throws
    {
        let app = try App()
        app.system.hold { _ in 0 }
        var first: Tenure? = app.start()
        let piano = try #require(first).content["piano"]
        let violin = try #require(first).content["violin"]
        let waiting = Task { try? await piano.download() }
        _ = await piano.reaches(bytes: 500_000)
        let second = Task { try? await violin.download() }
        let library = piano.library
        try await wait { await library.requests.count == 2 }
        let seen = await piano.reaches(bytes: 2_500_000)
        try await app.leave(orders: 2)
        // The state follows the orders a moment later.
        let state = await piano.reaches { if case .downloading = $0 { true } else { false } }
        guard case .downloading(let progress) = state else { return #expect(Bool(false), "\(state)") }
        #expect(progress.bytes >= seen)
        // The app's process ends.
        waiting.cancel()
        second.cancel()
        first = nil
        app.system.disconnect()
        try await wait { await library.runningDownload == nil }
        app.system.hold { _ in nil }
        try await wait { app.system.unfinished == 0 }
        let tenure = app.startBySystem()
        await tenure.content.finishBackgroundDownloads()
        for (name, files) in [("piano", Self.files), ("violin", Self.other)] {
            guard case .installed(_, nil) = tenure.content[name].state else {
                Issue.record("\(tenure.content[name].state)")
                continue
            }
            let root = try await tenure.content[name].url(for: "")
            for (path, data) in files { #expect(try Data(contentsOf: root.appendingPathComponent(path)) == data) }
        }
        #expect(app.testBed.server.sent < Self.size + 2_000_000 + 1_500_000, "nothing was fetched twice")
        #expect(app.system.orders.count == 2)
    }

    @Test func `a download isn't handed over to the system if the server never answered a range with 206`()
        async throws
    {
        let app = try App(faults: [.delay(3)])
        app.testBed.server.hold(after: nil)
        let tenure = app.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        try await wait { app.testBed.server.ranges.count == 1 }
        app.send(.appEnteredBackground)
        // The app downloads as long as the system lets it run.
        try await download.value
        #expect(app.system.orders == [])
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `when the app returns, the system keeps downloads that have bytes, and the app takes over the rest`()
        async throws
    {
        let app = try App()
        app.system.hold { $0.label.contains("violin") ? 0 : 1 }
        let tenure = app.start()
        let downloads = try await app.downloadBoth(with: tenure)
        _ = await tenure.content["piano"].reaches(bytes: 2_500_000)
        try await app.leave(orders: 2)
        app.send(.appBecameActive)
        try await wait { app.system.canceled.count == 1 }
        app.system.hold { _ in nil }
        for download in downloads { try await download.value }
        #expect(app.system.canceled.count == 1)
        #expect(app.system.canceled.first?.contains("violin") == true)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        #expect(app.testBed.server.sent < Self.size + 2_000_000 + 1_500_000, "nothing was fetched twice")
    }

    @Test func `a background download isn't handed over to the system again while the system has it`() async throws {
        let app = try App()
        app.system.hold { _ in 1 }
        let (tenure, piano, download) = try await app.downloadAndLeave()
        let library = piano.library
        app.send(.appBecameActive)
        try await wait { await library.isInForeground }
        app.send(.appEnteredBackground)
        try await wait { await !library.isInForeground }
        try await Task.sleep(nanoseconds: 300_000_000)
        #expect(app.system.orders.count == 1)
        app.system.hold { _ in nil }
        app.send(.appBecameActive)
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `when the app returns, it takes over a background download that makes no progress`() async throws {
        let app = try App()
        app.system.hold { _ in 1 }
        let (tenure, _, download) = try await app.downloadAndLeave { $0.stallTimeout = 2 }
        app.send(.appBecameActive)
        try await download.value
        #expect(app.system.canceled.count == 1)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test(arguments: ["status", "range", "short", "failed"])
    func `a background download is used only if it has exactly the requested range`(defect: String) async throws {
        let app = try App()
        app.system.change { result in
            switch defect {
            case "status":
                BackgroundResult(
                    label: result.label, status: 403, contentRange: result.contentRange, file: result.file)
            case "range":
                BackgroundResult(
                    label: result.label, status: 206, contentRange: "bytes 0-1/2", file: result.file)
            case "short":
                {
                    if let file = result.file { try? Data("short".utf8).write(to: file) }
                    return result
                }()
            default: BackgroundResult(label: result.label)
            }
        }
        let (tenure, _, download) = try await app.downloadAndLeave()
        try await wait { app.system.unfinished == 0 }
        app.send(.appBecameActive)
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test
    func `a failed background download is handed over to the system again, even if the app sees the failure first`()
        async throws
    {
        let app = try App()
        app.system.change { BackgroundResult(label: $0.label, status: 403, file: $0.file) }
        app.system.hold { _ in 0 }
        let (tenure, piano, download) = try await app.downloadAndLeave()
        app.system.hold { _ in nil }
        let library = piano.library
        let background = try #require(await library.background)
        try await wait { background.count == 0 }
        await library.schedule()
        try await wait {
            guard await library.delivered.isEmpty else { return false }
            return await library.runningDownload == nil
        }
        app.system.change { $0 }
        await tenure.content.finishBackgroundDownloads()
        #expect(app.system.orders.count == 2)
        try await wait { background.count == 0 }
        await tenure.content.finishBackgroundDownloads()
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `a refused background download is handed over to the system again after a relaunch, with a new link`()
        async throws
    {
        let app = try App()
        app.system.change { BackgroundResult(label: $0.label, status: 403, file: $0.file) }
        app.system.hold { _ in 0 }
        let (links, keys) = (LinkSource(app.testBed.server.url), app.testBed.keys)
        let useLinks: @Sendable (inout Setup) -> Void = { $0.options.content = .custom(links, keys: keys) }
        var first: Tenure? = app.start(useLinks)
        let piano = try #require(first).content["piano"]
        let library = piano.library
        links.use(await library.rangeServers)
        let waiting = Task { try? await piano.download() }
        _ = await piano.reaches(bytes: 2_500_000)
        try await app.leave(orders: 1)
        waiting.cancel()
        first = nil
        app.system.disconnect()
        try await wait { await library.runningDownload == nil }
        app.system.hold { _ in nil }
        try await wait { app.system.unfinished == 0 }
        app.system.change { $0 }
        app.system.linger()
        let tenure = app.startBySystem(useLinks)
        let present = tenure.content["piano"].library
        links.use(await present.rangeServers)
        await tenure.content.finishBackgroundDownloads()
        let background = try #require(await present.background)
        try await wait {
            app.system.orders.count == 2 && app.system.unfinished == 0 && background.count == 0
        }
        #expect(app.system.orders.map(\.url.query) == [nil, "refused"])
        await tenure.content.finishBackgroundDownloads()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `a background download that ended doesn't count, even if the system still lists it after a relaunch`()
        async throws
    {
        let app = try App()
        app.system.hold { _ in 0 }
        let (_, piano, download) = try await app.downloadAndLeave()
        download.cancel()
        app.system.disconnect()
        app.system.hold { _ in nil }
        try await wait { app.system.unfinished == 0 }
        app.system.linger()
        let transfers = BackgroundTransfers(
            app.system, store: await piano.library.store, servers: RangeServers(), stallTimeout: 30)
        await transfers.connect {}
        #expect(transfers.count == 0)
    }

    @Test func `background downloads stop when the app pauses or cancels them`() async throws {
        let app = try App()
        app.system.hold { _ in 0 }
        let tenure = app.start()
        let downloads = try await app.downloadBoth(with: tenure)
        let (piano, violin) = (tenure.content["piano"], tenure.content["violin"])
        _ = await piano.reaches(bytes: 2_500_000)
        try await app.leave(orders: 2)
        await piano.pause()
        await violin.cancel()
        #expect(app.system.unfinished == 0)
        #expect(piano.state == .paused)
        await #expect(throws: Tenure.AssetPackError.canceled("violin")) { try await downloads[1].value }
        downloads[0].cancel()
    }

    @Test(arguments: ["refund", "end of a subscription"])
    func `background downloads stop when the customer's right to the pack ends`(reason: String) async throws {
        let end = InventedApp.now.addingTimeInterval(3600)
        let app = try App(
            unlock: .entitlement("cloud"),
            store: FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
        app.system.hold { _ in 0 }
        let (tenure, _, download) = try await app.downloadAndLeave()
        if reason == "refund" {
            let date = InventedApp.now.addingTimeInterval(-60)
            app.testBed.device.store.change {
                $0.transactions = [
                    InventedApp.purchase(
                        InventedApp.yearly, id: "410000000000002", type: .autoRenewable, expires: end, revoked: date,
                        signed: date)
                ]
            }
            _ = await tenure.refresh()
        } else {
            app.testBed.device.time.now = end
        }
        await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await download.value }
        try await wait { app.system.unfinished == 0 }
        #expect(app.system.canceled.count == 1)
    }

    @Test func `background downloads leave out paused packs, and use expensive networks only with consent`()
        async throws
    {
        let app = try App()
        app.system.hold { _ in 0 }
        let tenure = app.start { $0.options.expensiveNetworkLimit = 1_000_000 }
        let (piano, violin) = (tenure.content["piano"], tenure.content["violin"])
        let downloads = [Task { try? await piano.download() }, Task { try? await violin.download() }]
        let library = piano.library
        try await wait { await library.requests.count == 2 }
        await violin.pause()
        _ = await piano.reaches(bytes: 2_500_000)
        try await app.leave(orders: 1)
        #expect(app.system.orders.allSatisfy { $0.label.contains("piano") })
        #expect(app.system.orders.allSatisfy { !$0.allowsExpensiveNetwork && !$0.allowsConstrainedNetwork })
        app.testBed.server.hold(after: 0)
        app.send(.appBecameActive)
        try await wait { await library.isInForeground }
        await piano.allowExpensiveNetwork()
        let seen = app.system.orders.count
        try await app.leave(orders: seen + 1)
        let later = app.system.orders.dropFirst(seen)
        #expect(later.allSatisfy { $0.allowsExpensiveNetwork && $0.allowsConstrainedNetwork })
        for pack in [piano, violin] { await pack.cancel() }
        for download in downloads { await download.value }
    }

    @Test func `background downloads that arrive out of order are put together`() async throws {
        let app = try App()
        // 40 MB in one file: two ranges, the second of which is the first to arrive.
        let block = ContentTestBed.bytes(4_000_000)
        let large = (0..<10).reduce(into: Data()) { data, _ in data += block }
        try app.testBed.publish(["large.wav": large])
        app.system.hold { $0.headers["Range"]?.hasSuffix("-40000511") == true ? nil : 0 }
        let (tenure, piano, download) = try await app.downloadAndLeave(orders: 2)
        try await wait { app.system.unfinished == 1 }
        // The bytes that have arrived are counted, although 32 MiB before them are missing.
        _ = await piano.reaches(bytes: 6_400_000)
        app.system.hold { _ in nil }
        try await wait { app.system.unfinished == 0 }
        app.send(.appBecameActive)
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == ["large.wav": large])
        #expect(app.testBed.server.sent < 40_000_000 + 3_000_000)
    }

    @Test func `a range that has arrived isn't requested again when the system gets the ranges before it again`()
        async throws
    {
        let app = try App()
        // 40 MB in one file: two ranges, the first of which fails.
        let block = ContentTestBed.bytes(4_000_000)
        let large = (0..<10).reduce(into: Data()) { data, _ in data += block }
        try app.testBed.publish(["large.wav": large])
        app.system.hold { $0.headers["Range"]?.hasSuffix("-40000511") == true ? nil : 0 }
        let (tenure, piano, download) = try await app.downloadAndLeave(orders: 2)
        try await wait { app.system.unfinished == 1 }
        _ = await piano.reaches(bytes: 6_400_000)
        let library = piano.library
        let background = try #require(await library.background)
        app.system.change { BackgroundResult(label: $0.label, status: 403, file: $0.file) }
        app.system.hold { _ in nil }
        try await wait { background.count == 0 }
        app.system.change { $0 }
        await tenure.content.finishBackgroundDownloads()
        #expect(app.system.orders.count == 3)
        #expect(app.system.orders.last?.headers["Range"] == app.system.orders.first?.headers["Range"])
        try await wait { background.count == 0 }
        await tenure.content.finishBackgroundDownloads()
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == ["large.wav": large])
    }
}
