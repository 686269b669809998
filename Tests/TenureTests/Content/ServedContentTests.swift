import CommandRunner
import Foundation
import HummingbirdTesting
import Logging
import TenureContent
import TenureCore
import TenureHTTP
import TenureMint
import TestTransport
import Testing

@testable import Tenure
@testable import TenureServer

@Suite(.timeLimit(.minutes(5))) struct `Content from the service` {
    @Test func `content from the service is downloaded by links that are relative to the service`() async throws {
        try await ServedContent.run { served in
            let tenure = served.device(try .owner()).start()
            let piano = tenure.content["piano"]
            try await piano.download()
            guard case .installed(_, nil) = piano.state else { return #expect(Bool(false), "\(piano.state)") }
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(served.transport.received < ServedContent.size + 10_000)
        }
    }

    @Test func `content from the service is downloaded below the path of one of several apps`() async throws {
        let testBed = try ContentTestBed(ServedContent.files)
        let folder = try Folder()
        var configuration = ServiceConfiguration(
            databasePath: folder.path + "/tenure.sqlite", policy: InventedApp.policy())
        configuration.anchors = [.production: try RealService.authority.anchors]
        configuration.now = { InventedApp.now }
        configuration.content = ContentSettings(folder: testBed.published)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/notes", withIntermediateDirectories: true)
        var other = ServiceConfiguration(
            databasePath: folder.path + "/notes/tenure.sqlite",
            policy: try Policy(
                app: Policy.App(bundleID: "com.example.notes", appleID: 828_838_135),
                eras: [Era(name: "always", model: .free)],
                entitlements: [Entitlement(name: "all", products: [.init(id: "com.example.notes.all")])]))
        other.now = { InventedApp.now }
        var logger = Logger(label: "tests")
        logger.logLevel = .critical
        let application = try await buildApplication(
            AppsConfiguration([
                AppConfiguration(name: "calculator", configuration: configuration),
                AppConfiguration(name: "notes", configuration: other),
            ]), logger: logger)
        try await application.test(.live) { client in
            let port = try #require(client.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let keys = try await URLSessionTransport.shared.send(
                TransportRequest(
                    url.appendingPathComponent("apps/calculator/.well-known/jwks.json"), timeout: 60,
                    bodyLimit: 65_536))
            let service = RealService(
                url: url, key: try Tenure.ServiceKey(String(decoding: keys.body, as: UTF8.self)),
                line: ControlledTransport())
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

    @Test func `an app too old for the newest version of a pack gets an earlier version from the service`() async throws
    {
        try await ServedContent.run { served in
            var changed = ServedContent.files
            changed["index.json"] = Data("{\"version\":2}".utf8)
            try served.testBed.publish(changed, minimumAppVersion: "3.2")
            for (version, files) in [("3.1", ServedContent.files), ("3.2", changed)] {
                let device = served.device(try .owner()) {
                    $0.appVersion = AppVersion(version)
                    $0.contentLocation = ContentLocation(in: served.testBed.folder.url(version))
                }
                let tenure = device.start()
                try await tenure.content["piano"].download()
                #expect(try await ContentTestBed.contents(of: tenure) == files, "\(version)")
            }
        }
    }

    @Test func `a download from the service continues with a new link after the first link has expired`()
        async throws
    {
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

    @Test func `a client requests a new access token if the service reports the old token as expired`() async throws {
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

    @Test func `a client requests content only once, without another sync, from a service that delivers no content`()
        async throws
    {
        try await RealService.run { service in
            let tenure = service.device(try .owner()).start()
            _ = await tenure.settled()
            await #expect(throws: ServiceFailure.self) { _ = try await tenure.engine.content(appVersion: nil) }
            #expect(service.line.paths.filter { $0.hasSuffix("/v1/content") }.count == 1)
            #expect(service.line.syncs == 1)
        }
    }

    @Test func `a download from the service finishes the version that it began, even after a relaunch`() async throws {
        try await ServedContent.run { served in
            let changed = served.publishWhileDownloadIsCut()
            let device = served.device(try .owner())
            var first: Tenure? = device.start()
            let piano = try #require(first).content["piano"]
            let waiting = Task { try? await piano.download() }
            while !served.transport.isDown { try await Task.sleep(nanoseconds: 5_000_000) }
            waiting.cancel()
            let library = piano.library
            first = nil
            while await library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
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

    @Test func `after a kill, a download finishes the version that it began, with the stored links`()
        async throws
    {
        try await ServedContent.run { served in
            _ = served.publishWhileDownloadIsCut()
            let testBed = served.testBed
            let killed = served.device(try .owner()).start()
            let waiting = Task { try? await killed.content["piano"].download() }
            while !served.transport.isDown { try await Task.sleep(nanoseconds: 5_000_000) }
            waiting.cancel()
            // The first app goes on in this process, so the next one has a copy of its files. A copy fails if the first
            // app removes one of the files meanwhile.
            let copy = testBed.folder.url("copy")
            while (try? FileManager.default.copyItem(at: testBed.folder.url("device"), to: copy)) == nil {
                try? FileManager.default.removeItem(at: copy)
                try await Task.sleep(nanoseconds: 5_000_000)
            }
            // The copied file names a process that still runs.
            try? FileManager.default.removeItem(at: testBed.folder.url("copy/content/transfer.json"))
            let transport = ArrangedTransport()
            let tenure = served.device(try .owner()) { setup in
                setup.contentTransport = transport
                setup.contentLocation = ContentLocation(in: copy)
            }.start()
            // The newer catalog may come after the installation.
            _ = await tenure.content["piano"].reaches {
                if case .installed(_, .available?) = $0 { true } else { false }
            }
            #expect(try await ContentTestBed.contents(of: tenure) == ServedContent.files)
            #expect(transport.received < ServedContent.size - 1_000_000 + 10_000)
            withExtendedLifetime(killed) {}
        }
    }

    @Test func `a download continues with the newest version if the service lacks the version that it began`()
        async throws
    {
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

    @Test func `content from the service is downloaded from the absolute links of an S3 bucket`() async throws {
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

    @Test func `content that a purchase unlocks can be downloaded without a restart`() async throws {
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
}
