import CommandRunner
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TenureAPI
import TenureAppStore
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a download link` {
    @Test func `download links lead to the manifest and the archive in the catalog`() async throws {
        try await withContent { testBed in
            let version = try testBed.published.publish([
                testBed.published.pack("grand-piano", .entitlement("everything"), size: 3_000_000)
            ]).packs[0].version
            let links = try await testBed.links("grand-piano", try await testBed.owner())
            for (link, digest) in [(links.manifest, version.manifest), (links.archive, version.archive)] {
                let response = try await testBed.get(link)
                #expect(response.status == .ok)
                #expect(try [UInt8](response.body.readableBytesView) == testBed.published.bytes(of: digest))
            }
        }
    }

    @Test func `a download link is refused from the first request after a refund`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let bought = try testBed.purchase(of: PublishedContent.loops)
            let token = try await testBed.newcomer(transactions: [bought])
            let link = try await testBed.links("loops", token).archive
            #expect(try await testBed.code(of: link) == "200")
            testBed.clock.advance(by: 60)
            let refunded = try testBed.purchase(of: PublishedContent.loops, revoked: testBed.clock.now)
            _ = try await testBed.newcomer(transactions: [refunded])
            #expect(try await testBed.code(of: link) == "notEntitled")
            #expect(try await testBed.get(link, method: .head).status == .forbidden)
            #expect(try await testBed.names(token) == [])
        }
    }

    @Test func `a refused download says why it is refused and what to do`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let bought = try testBed.purchase(of: PublishedContent.loops)
            let link = try await testBed.links("loops", try await testBed.newcomer(transactions: [bought])).archive
            func detail(of link: String) async throws -> String {
                try testBed.client.problem(try await testBed.get(link)).detail
            }
            let invalid = try await detail(of: link + "A")
            #expect(invalid == "the link is invalid or expired; get a new one from `GET /v1/content`")
            let piano = try await testBed.links("grand-piano", try await testBed.owner()).archive
            let name = piano.dropFirst("/v1/content/".count).prefix(64)
            try FileManager.default.removeItem(atPath: "\(testBed.published.folder)/\(name)")
            let unpublished = try await detail(of: piano)
            #expect(unpublished == "this file isn't published anymore; get a new link from `GET /v1/content`")
            testBed.clock.advance(by: 60)
            let refunded = try testBed.purchase(of: PublishedContent.loops, revoked: testBed.clock.now)
            _ = try await testBed.newcomer(transactions: [refunded])
            let denied = try await detail(of: link)
            #expect(denied == "the customer isn't entitled to this pack anymore; sync to see why")
        }
    }

    @Test func `a download link stops working after its lifetime`() async throws {
        try await withContent(changing: { $0.content?.linkLifetime = 600 }) { testBed in
            try testBed.published.publishThree()
            let links = try await testBed.links("grand-piano", try await testBed.owner())
            #expect(links.expiresAt == Calculator.now.addingTimeInterval(600))
            testBed.clock.advance(by: 599)
            #expect(try await testBed.code(of: links.archive) == "200")
            testBed.clock.advance(by: 1)
            #expect(try await testBed.code(of: links.archive) == "invalidLink")
        }
    }

    @Test func `a download link gives access only to its own file`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let links = try await testBed.links("grand-piano", try await testBed.owner())
            let archive = try #require(URLComponents(string: links.archive))
            let manifest = try #require(URLComponents(string: links.manifest))
            let (token, other) = (archive.query ?? "", manifest.query ?? "")
            for link in [
                "\(archive.path)?\(other)", "\(manifest.path)?\(token)", archive.path, "\(archive.path)?token=",
                "\(archive.path)?\(token)A", "\(archive.path)?\(token.dropLast())",
                "\(archive.path)?token=\(String(repeating: "A", count: 50_000))",
            ] {
                #expect(try await testBed.code(of: link) == "invalidLink", "\(link)")
            }
            // Which of several tokens counts isn't certain.
            #expect(try await testBed.code(of: "\(archive.path)?\(token)&\(token)") == "malformedRequest")
            let changed = token.dropLast() + (token.hasSuffix("A") ? "Q" : "A")
            #expect(try await testBed.code(of: "\(archive.path)?\(changed)") == "invalidLink")
            // An access token isn't accepted as a link's token, and a link's token isn't accepted as an access token.
            let access = try await testBed.owner()
            #expect(try await testBed.code(of: "\(archive.path)?token=\(access)") == "invalidLink")
            let asAccess = try await testBed.client.get("/v1/content", token: String(token.dropFirst("token=".count)))
            #expect(asAccess.status == .unauthorized)
            for name in [
                "catalog.jws", archive.path.suffix(64).uppercased(), "..%2Fcatalog.jws", "a", "%2e%2e",
                String(archive.path.suffix(63)), archive.path.suffix(64) + "0",
            ] {
                #expect(try await testBed.code(of: "/v1/content/\(name)?\(token)") == "notFound", "\(name)")
            }
        }
    }

    @Test func `a download link of one app is refused by another app of the same service`() async throws {
        try await withFolder { folder in
            var apps: [AppConfiguration] = []
            for (name, bundleID) in [("calculator", "com.example.calculator"), ("notes", "com.example.notes")] {
                let own = folder + "/" + name
                try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
                let published = try PublishedContent(in: own)
                try published.publish(
                    [published.pack("grand-piano", .entitlement("everything"))], bundleID: bundleID)
                var configuration = try Calculator.configuration(
                    own, policy: try PublishedContent.policy(bundleID: bundleID))
                configuration.content = ContentSettings(folder: published.folder)
                apps.append(AppConfiguration(name: name, configuration: configuration))
            }
            let application = try await buildApplication(AppsConfiguration(apps), logger: Calculator.logger)
            try await application.test(.router) { [apps] http in
                var links: [String] = []
                for app in apps {
                    let client = Client(http: http, prefix: "/apps/\(app.name)")
                    let bundleID = app.configuration.policy.app.bundleID
                    let owner = SyncRequest(
                        appTransaction: try Calculator.minter(bundleID: bundleID).text(.appTransaction))
                    let response = try await client.get("/v1/content", token: try await client.sync(owner).token)
                    let content = try JSONDecoder().decode(ContentResponse.self, from: Data(buffer: response.body))
                    let link = try #require(content.packs["grand-piano"]?.archive)
                    #expect(link.hasPrefix("/apps/\(app.name)/v1/content/"))
                    #expect(try await http.execute(uri: link, method: .get) { $0.status } == .ok)
                    links.append(link)
                }
                // Both apps published the same files, and both customers have the number 1.
                for (link, own, foreign) in [(links[0], "calculator", "notes"), (links[1], "notes", "calculator")] {
                    let other = link.replacing("/apps/\(own)/", with: "/apps/\(foreign)/")
                    #expect(try await http.execute(uri: other, method: .get) { $0.status } == .forbidden)
                }
            }
        }
    }

    @Test func `a download link stops working when the service stops accepting the customer's environment`()
        async throws
    {
        try await withFolder { folder in
            let published = try PublishedContent(in: folder)
            try published.publishThree()
            var configuration = try Calculator.configuration(folder, policy: try PublishedContent.policy())
            configuration.content = ContentSettings(folder: published.folder)
            configuration.contentStaleness = .zero
            let links = Locked<[String]>([])
            for isAccepted in [true, false] {
                if !isAccepted { configuration.anchors[.production] = nil }
                let service = try await started(configuration)
                try await service.application(logger: Calculator.logger) { _ in }.test(.router) { http in
                    let testBed = ContentTestBed(
                        client: Client(http: http), published: published, clock: TestClock(), port: nil)
                    if isAccepted {
                        let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
                        links.withLock { $0.append(link) }
                    }
                    let link = try #require(links.withLock { $0.first })
                    #expect(try await testBed.code(of: link) == (isAccepted ? "200" : "invalidLink"))
                }
                try? await service.store.close()
            }
        }
    }

    @Test func `a download link stays valid after a newer catalog is published, while the file exists`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let old = try await testBed.links("grand-piano", try await testBed.owner())
            let everything = ContentCatalog.Unlock.entitlement("everything")
            try testBed.published.publish([testBed.published.pack("grand-piano", everything, seed: 9)], counter: 1001)
            let new = try await testBed.links("grand-piano", try await testBed.owner())
            #expect(new.archive.prefix(80) != old.archive.prefix(80))
            #expect(try await testBed.code(of: old.archive) == "200")
            // Another pack is published for the same entitlement, and the first one is removed.
            try testBed.published.publish([testBed.published.pack("organ", everything, seed: 8)], counter: 1002)
            #expect(try await testBed.code(of: old.archive) == "200")
            let name = old.archive.dropFirst("/v1/content/".count).prefix(64)
            try FileManager.default.removeItem(atPath: "\(testBed.published.folder)/\(name)")
            #expect(try await testBed.code(of: old.archive) == "notFound")
            // A newer catalog may require another entitlement than the entitlement for which the link was made.
            try testBed.published.publish(
                [testBed.published.pack("grand-piano", .entitlement("cloud"), seed: 9)], counter: 1003)
            #expect(try await testBed.code(of: new.archive) == "notEntitled")
        }
    }

    @Test func `a download link is invalid for another customer, environment or persona than the service knows`()
        async throws
    {
        try await withFolder { folder in
            let published = try PublishedContent(in: folder)
            let everything = ContentCatalog.Unlock.entitlement("everything")
            let digest = try published.publish([published.pack("grand-piano", everything)]).packs[0].version.archive
            let policy = try PublishedContent.policy()
            let owner = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
            let text = try await withService(in: folder, policy: policy) { try await $0.sync(owner).token }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let databaseID = store.databaseID
            try await store.close()
            let accessKey = try AccessTokenKey(folder: folder, databaseID: databaseID)
            let token = try #require(accessKey.token(in: text.utf8))
            let linkKey = try ContentLinkKey(folder: folder, databaseID: databaseID)
            func link(of customer: Int64, in realm: Realm, as persona: Int64? = nil) -> String {
                let link = ContentLink(
                    file: .archive, digest: digest, pack: "grand-piano", unlock: everything, customer: customer,
                    realm: realm, persona: persona, expiresAt: Calculator.now.addingTimeInterval(60))
                return "/v1/content/\(digest)?token=\(linkKey.token(of: link))"
            }
            let links = [
                link(of: token.customer, in: token.realm), link(of: token.customer + 1, in: token.realm),
                link(of: token.customer, in: Realm(.sandbox, isTest: true)),
                link(of: token.customer, in: token.realm, as: 1),
            ]
            try await withService(in: folder, policy: policy) {
                $0.content = ContentSettings(folder: published.folder)
            } _: { (client: Client) async throws in
                let testBed = ContentTestBed(client: client, published: published, clock: TestClock(), port: nil)
                var codes: [String] = []
                for link in links { codes.append(try await testBed.code(of: link)) }
                #expect(codes == ["200", "invalidLink", "invalidLink", "invalidLink"])
            }
        }
    }

    @Test func `a download link delivers regular files only`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
            let path = "\(testBed.published.folder)/\(link.dropFirst("/v1/content/".count).prefix(64))"
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
            #expect(try await testBed.code(of: link) == "notFound")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            #expect(try await testBed.code(of: link) == "notFound")
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
            #expect(try await testBed.code(of: link) == "notFound")
        }
    }

    @Test func `a download link of a persona is invalid after the persona is deleted`() async throws {
        try await withContent(changing: { $0.adminKey = AdminClient.adminKey }) { testBed in
            try testBed.published.publishThree()
            let admin = AdminClient(client: testBed.client, key: AdminClient.adminKey)
            #expect(try await testBed.names(try await admin.sandboxed(as: nil).token) == [])
            let token = try await admin.sandboxed(as: try await admin.persona()).token
            let link = try await testBed.links("grand-piano", token).archive
            #expect(try await testBed.code(of: link) == "200")
            #expect(try await admin.delete("/v1/admin/personas/early-buyer").status == .ok)
            #expect(try await testBed.code(of: link) == "invalidLink")
        }
    }

    @Test func `a download link stops working when the customer is erased`() async throws {
        try await withContent(changing: { $0.adminKey = AdminClient.adminKey }) { testBed in
            try testBed.published.publishThree()
            let admin = AdminClient(client: testBed.client, key: AdminClient.adminKey)
            let owner = try await admin.owner()
            let link = try await testBed.links("grand-piano", try owner.token).archive
            #expect(try await testBed.code(of: link) == "200")
            #expect(try await admin.delete(try owner.path("?reason=asked")).status == .ok)
            #expect(try await testBed.code(of: link) == "invalidLink")
        }
    }

    @Test func `a download link appears neither in logs nor in metrics`() async throws {
        let lines = LogLines()
        try await withFolder { folder in
            let published = try PublishedContent(in: folder)
            try published.publishThree()
            var configuration = try Calculator.configuration(folder, policy: try PublishedContent.policy())
            configuration.content = ContentSettings(folder: published.folder)
            configuration.metrics = .open
            let service = try await started(configuration)
            let application = try service.application(logger: lines.logger(.trace)) { _ in }
            try await application.test(.live) { http in
                let testBed = ContentTestBed(
                    client: Client(http: http), published: published, clock: TestClock(), port: http.port)
                let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
                #expect(try await testBed.code(of: link) == "200")
                #expect(try await testBed.code(of: link + "x") == "invalidLink")
                let secret = try #require(link.split(separator: "=").last)
                let digest = link.dropFirst("/v1/content/".count).prefix(64)
                let metrics = String(buffer: try await testBed.client.get("/metrics").body)
                #expect(lines.texts.contains { $0.contains("/v1/content/{digest}") })
                #expect(metrics.contains(#"route="/v1/content/{digest}",status="200"} 1"#))
                for text in lines.texts + [metrics] {
                    #expect(!text.contains(secret.prefix(40)) && !text.contains(digest))
                }
                #expect(metrics.contains("tenure_downloads_total 1\n"))
                #expect(metrics.contains("tenure_downloads_in_progress 0\n"))
                #expect(
                    metrics.contains(
                        "tenure_download_bytes_total \(try published.bytes(of: #require(ContentDigest(digest))).count)\n"
                    ))
                #expect(metrics.contains("tenure_downloads_rejected_total{reason=\"customer\"} 0\n"))
            }
        }
    }

    @Test func `decoding a download link's bytes returns the link, and a truncated link is invalid`() {
        for unlock in [ContentCatalog.Unlock.entitlement("everything"), .product(PublishedContent.loops)] {
            for persona: Int64? in [nil, 9] {
                let link = ContentLink(
                    file: .archive, digest: ContentDigest(of: Data([1])), pack: "grand-piano", unlock: unlock,
                    customer: 1_234_567_890_123, realm: Realm(.sandbox, isTest: true), persona: persona,
                    expiresAt: Date(timeIntervalSince1970: 1_800_000_000))
                let bytes = link.bytes
                #expect(ContentLink(bytes) == link)
                // The name of what unlocks the pack comes last.
                for count in 0..<(bytes.count - unlock.nameLength) {
                    #expect(ContentLink(Array(bytes.prefix(count))) == nil)
                }
                #expect(ContentLink([bytes[0] + 1] + bytes.dropFirst()) == nil)
            }
        }
    }
}

extension ContentCatalog.Unlock {
    fileprivate var nameLength: Int {
        switch self {
        case .entitlement(let name), .product(let name): name.utf8.count
        }
    }
}
