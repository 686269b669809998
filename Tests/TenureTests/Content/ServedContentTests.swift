import CommandRunner
import Foundation
import HummingbirdTesting
import Logging
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureHTTP
import TenureMint
import TenureStore
import TestTransport
import Testing

@testable import Tenure
@testable import TenureServer

/// The real service, with a published folder.
private struct ServedContent: Sendable {
    let testBed: ContentTestBed
    let service: RealService
    let transport: ArrangedTransport
    let time: Locked<Date>

    static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(3_000_000), "index.json": Data("{}".utf8),
    ]
    static let size = 3_000_002
    static let loops = "com.example.loops"

    static func run(
        unlock: ContentCatalog.Unlock = .entitlement("everything"), lifetime: TimeInterval = 86_400,
        _ body: @escaping @Sendable (ServedContent) async throws -> Void
    ) async throws {
        let testBed = try ContentTestBed(files, unlock: unlock)
        let time = Locked(InventedApp.now)
        try await RealService.run(now: { time.withLock { $0 } }) { configuration in
            configuration.content = ContentSettings(folder: testBed.published)
            configuration.content?.linkLifetime = lifetime
            configuration.contentStaleness = .zero
        } _: { service in
            try await body(
                ServedContent(testBed: testBed, service: service, transport: ArrangedTransport(), time: time))
        }
    }

    func device(_ store: FakeStore, _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }) -> Device {
        service.device(store) { [testBed, transport] setup in
            setup.options.content = .service(keys: testBed.keys)
            setup.options.whileUndetermined = .deny
            setup.contentLocation = testBed.location
            setup.contentTransport = transport
            setup.stallTimeout = 5
            change(&setup)
        }
    }

    /// A customer who got the app when it was free, and bought everything.
    static func buyer(_ product: String = InventedApp.everything, revoked: Date? = nil) throws -> FakeStore {
        let (app, purchase) = try (InventedApp.signed(InventedApp.newcomer()), purchase(product, revoked: revoked))
        return FakeStore {
            $0.app = app
            $0.transactions = [purchase]
        }
    }

    static func purchase(
        _ product: String = InventedApp.everything, id: String = "410000000000001", revoked: Date? = nil
    ) throws -> StoreTransaction {
        let account = "704000000000000002"
        let minted = InventedApp.purchase(product, id: id, of: account, revoked: revoked)
        // Of two artifacts of one transaction, the later-signed one counts.
        return try InventedApp.signed(
            minted, of: account, at: InventedApp.now.addingTimeInterval(revoked == nil ? -60 : -5))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Content from the service` {
    @Test func `is downloaded by links that are relative to the service`() async throws {
        try await ServedContent.run { served in
            let tenure = served.device(try .owner()).start()
            let piano = tenure.content["piano"]
            try await piano.download()
            guard case .installed(_, nil) = piano.state else { return #expect(Bool(false), "\(piano.state)") }
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.received < ServedContent.size + 10_000)
        }
    }

    @Test func `is downloaded below the path of one of several apps`() async throws {
        let testBed = try ContentTestBed(ServedContent.files)
        let folder = try Folder()
        var configuration = ServiceConfiguration(
            databasePath: folder.path + "/record.sqlite", policy: InventedApp.policy())
        configuration.anchors = [.production: try RealService.authority.anchors]
        configuration.now = { InventedApp.now }
        configuration.content = ContentSettings(folder: testBed.published)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/notes", withIntermediateDirectories: true)
        var other = ServiceConfiguration(
            databasePath: folder.path + "/notes/record.sqlite",
            policy: try Policy(
                app: Policy.App(bundleID: "com.example.notes", appleID: 828_838_135),
                eras: [Era(name: "always", model: .free)],
                entitlements: [Entitlement(name: "all", products: [.init(id: "com.example.notes.all")])]))
        other.now = { InventedApp.now }
        var logger = Logger(label: "tests")
        logger.logLevel = .critical
        let application = try await buildApplication(
            apps: [
                AppConfiguration(name: "calculator", configuration: configuration),
                AppConfiguration(name: "notes", configuration: other),
            ], logger: logger)
        try await application.test(.live) { client in
            let port = try #require(client.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let keys = try await URLSessionTransport.shared.send(
                TransportRequest(
                    url.appendingPathComponent("apps/calculator/.well-known/jwks.json"), timeout: 60,
                    bodyLimit: 65_536))
            let service = RealService(
                url: url, key: try Tenure.ServiceKey(String(decoding: keys.body, as: UTF8.self)), line: Line())
            let device = Device(try .owner(), policy: nil) { setup in
                service.connect(&setup, app: "calculator")
                setup.options.content = .service(keys: testBed.keys)
                setup.contentLocation = testBed.location
            }
            let tenure = device.start()
            try await tenure.content["piano"].download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(service.line.paths.contains("/apps/calculator/v1/content"))
        }
    }

    @Test func `continues with a new link after one has expired, and keeps its bytes`() async throws {
        try await ServedContent.run(lifetime: 600) { served in
            served.transport.cut(after: 1_000_000)
            served.transport.before(1) { served.time.withLock { $0 += 601 } }
            let tenure = served.device(try .owner()).start()
            try await tenure.content["piano"].download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.statuses == [403, 206])
            #expect(served.transport.received < ServedContent.size + 10_000)
        }
    }

    @Test func `requests a new access token if the service reports the old one as expired`() async throws {
        try await ServedContent.run(lifetime: 600) { served in
            served.transport.cut(after: 1_000_000)
            // Only the service's clock moves.
            served.transport.before(1) { served.time.withLock { $0 += 4000 } }
            let tenure = served.device(try .owner()).start()
            try await tenure.content["piano"].download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.received < ServedContent.size + 10_000)
        }
    }

    @Test func `stops after a refund and keeps its bytes, and is available again after another purchase`()
        async throws
    {
        try await ServedContent.run { served in
            let device = served.device(try ServedContent.buyer())
            let tenure = device.start()
            let piano = tenure.content["piano"]
            served.transport.cut(after: 1_000_000)
            // The service learns of the refund from another device, and this one from the service.
            served.transport.before(1) {
                let refunded = try ServedContent.purchase(revoked: InventedApp.now.addingTimeInterval(-10))
                let other = served.service.device(
                    try ServedContent.buyer(revoked: InventedApp.now.addingTimeInterval(-10)))
                _ = await other.start().settled()
                device.store.change { $0.transactions = [refunded] }
            }
            await #expect(throws: Tenure.AssetPackError.notEntitled("piano")) { try await piano.download() }
            #expect(piano.state == .notEntitled)
            #expect(served.transport.statuses.first == 403)
            // It doesn't start again by itself.
            let again = try ServedContent.purchase(id: "410000000000009")
            device.store.deliverUpdate(again)
            let state = await piano.reaches { if case .available = $0 { true } else { false } }
            guard case .available(let size) = state else { return #expect(Bool(false), "\(state)") }
            #expect(size < 2_100_000, "the downloaded bytes are kept")
            try await piano.download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.received < ServedContent.size + 10_000)
        }
    }

    @Test func `ends with the version with which it began, also after a relaunch`() async throws {
        try await ServedContent.run { served in
            served.transport.cut(after: 1_000_000)
            var changed = ServedContent.files
            changed["index.json"] = Data("{\"version\":2}".utf8)
            let (publish, testBed) = (changed, served.testBed)
            served.transport.before(1) {
                try testBed.publish(publish)
                served.transport.isDown = true
            }
            let device = served.device(try .owner())
            var first: Tenure? = device.start()
            let piano = try #require(first).content["piano"]
            let waiting = Task { try? await piano.download() }
            while !served.transport.isDown { try await Task.sleep(nanoseconds: 5_000_000) }
            waiting.cancel()
            let library = piano.library
            first = nil
            while await library.running != nil { try await Task.sleep(nanoseconds: 5_000_000) }
            served.transport.isDown = false
            let tenure = device.start()
            let again = tenure.content["piano"]
            let state = await again.reaches { if case .installed(_, .some) = $0 { true } else { false } }
            guard case .installed(_, .available?) = state else { return #expect(Bool(false), "\(state)") }
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.received < ServedContent.size + 10_000)
            try await again.download()
            #expect(try await ContentTestBed.contents(of: tenure) == changed)
        }
    }

    @Test func `continues with the newest version if the service no longer has the one that was begun`() async throws {
        try await ServedContent.run(lifetime: 600) { served in
            served.transport.cut(after: 2_999_000)
            var changed = ServedContent.files
            changed["index.json"] = Data("{\"version\":2}".utf8)
            let (publish, testBed) = (changed, served.testBed)
            served.transport.before(1) {
                try testBed.publish(publish)
                served.time.withLock { $0 += 601 }
            }
            let tenure = served.device(try .owner()).start()
            let piano = tenure.content["piano"]
            try await piano.download()
            #expect(try await ContentTestBed.contents(of: tenure) == changed)
            #expect(served.transport.received < ServedContent.size + 10_000, "the beginning of a file counts, too")
        }
    }

    @Test func `is downloaded from the absolute links of a bucket`() async throws {
        try await ServedContent.run { served in
            let bucket = served.testBed.server.url.absoluteString
            served.service.line.condition = .replaced { response in
                let text = String(decoding: response.body, as: UTF8.self)
                guard text.contains("\"packs\"") else { return }
                response.body = Data(
                    text.replacingOccurrences(of: "\"/v1/content/", with: "\"\(bucket)/")
                        .replacingOccurrences(of: "?token=", with: "?X-Amz-Signature=").utf8)
            }
            let tenure = served.device(try .owner()).start()
            try await tenure.content["piano"].download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.testBed.server.sent < ServedContent.size + 10_000)
        }
    }

    @Test func `that a purchase unlocks needs no restart`() async throws {
        try await ServedContent.run(unlock: .product(ServedContent.loops)) { served in
            let app = try InventedApp.signed(InventedApp.newcomer())
            let device = served.device(FakeStore { $0.app = app })
            let tenure = device.start()
            let piano = tenure.content["piano"]
            #expect(await piano.reaches { $0 != .unknown } == .notEntitled)
            device.store.deliverUpdate(try ServedContent.purchase(ServedContent.loops))
            _ = await piano.reaches { if case .available = $0 { true } else { false } }
            try await piano.download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
        }
    }

    @Test
    func `fails, and can be retried, if the service gives no link although the app considers the customer entitled`()
        async throws
    {
        try await ServedContent.run { served in
            served.service.line.condition = .replaced { response in
                let text = String(decoding: response.body, as: UTF8.self)
                guard let start = text.range(of: "\"packs\":{") else { return }
                response.body = Data((text[..<start.upperBound] + "}}").utf8)
            }
            let tenure = served.device(try .owner()).start()
            let piano = tenure.content["piano"]
            await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await piano.download() }
            served.service.line.condition = .up
            try await piano.download()
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
        }
    }
}
