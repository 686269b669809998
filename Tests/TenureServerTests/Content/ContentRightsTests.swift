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
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `links to content` {
    @Test func `a customer gets links only to packs to which the customer is entitled`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let owner = try await testBed.content(try await testBed.owner())
            #expect(owner.packs.keys.sorted() == ["grand-piano"])
            let signed = try SignedCatalog.verify(
                owner.catalog.utf8, keys: testBed.published.keys, bundleID: "com.example.calculator")
            #expect(signed.catalog.packs.map(\.name) == ["grand-piano", "loops", "samples"])
            #expect(owner.packs["grand-piano"]?.expiresAt == Calculator.now.addingTimeInterval(86_400))
            #expect(try await testBed.names(try await testBed.newcomer()) == [])
        }
    }

    @Test func `links to content need the access token of a customer`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            for token in [nil, "", "x", String(repeating: "A", count: 67)] {
                let response = try await testBed.client.get("/v1/content", token: token)
                #expect(try testBed.client.problem(response).code == .notAuthenticated)
            }
            let token = try await testBed.owner()
            testBed.clock.advance(by: 3600)
            #expect(try await testBed.client.get("/v1/content", token: token).status == .unauthorized)
        }
    }

    @Test func `only customers who bought a product get links to its content`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let bought = try testBed.purchase(of: PublishedContent.loops)
            #expect(try await testBed.names(try await testBed.newcomer(transactions: [bought])) == ["loops"])
            let other = try testBed.purchase(of: Calculator.everything, by: "704000000000000003")
            #expect(
                try await testBed.names(try await testBed.newcomer("704000000000000003", transactions: [other]))
                    == ["grand-piano"])
        }
    }

    @Test func `an entitlement without a purchase gives no links to a product's content`() async throws {
        try await withContent { testBed in
            try testBed.published.publish([
                testBed.published.pack("grand-piano", .product(Calculator.everything)),
                testBed.published.pack("samples", .entitlement("everything"), seed: 2),
            ])
            // The owner got the entitlement with the app, without a purchase.
            #expect(try await testBed.names(try await testBed.owner()) == ["samples"])
            let bought = try testBed.purchase(of: Calculator.everything)
            #expect(
                try await testBed.names(try await testBed.newcomer(transactions: [bought]))
                    == ["grand-piano", "samples"])
        }
    }

    @Test func `a customer gets links to a product's content until the product's length in the policy ends`()
        async throws
    {
        let season = "com.example.season"
        let calculator = try Calculator.policy()
        let policy = try Policy(
            app: calculator.app, eras: calculator.eras, buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "season", products: [.init(id: season, length: CalendarPeriod(months: 3))])
            ])
        try await withContent(policy: policy) { testBed in
            try testBed.published.publish([testBed.published.pack("loops", .product(season))])
            let bought = try Calculator.minter(signed: testBed.clock.now).transaction(
                "1", of: ContentTestBed.newcomer,
                [
                    "productId": .string(season), "type": .string("Non-Renewing Subscription"), "expiresDate": .null,
                    "purchaseDate": .instant(Calculator.now.addingTimeInterval(-60)),
                ])
            #expect(try await testBed.names(try await testBed.newcomer(transactions: [bought])) == ["loops"])
            // The new time is long after the grace period for undetermined decisions.
            testBed.clock.advance(by: 80 * 86_400)
            #expect(try await testBed.names(try await testBed.newcomer(transactions: [bought])) == ["loops"])
            testBed.clock.advance(by: 13 * 86_400)
            #expect(try await testBed.names(try await testBed.newcomer(transactions: [bought])) == [])
        }
    }

    @Test func `customers with undetermined decisions get links to content as long as whileUndetermined allows`()
        async throws
    {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let everything = ["grand-piano", "loops", "samples"]
            #expect(try await testBed.names(try await testBed.newcomer(transactions: nil)) == everything)
            testBed.clock.advance(by: 72 * 3600 - 1)
            #expect(try await testBed.names(try await testBed.newcomer(transactions: nil)) == everything)
            testBed.clock.advance(by: 1)
            #expect(try await testBed.names(try await testBed.newcomer(transactions: nil)) == [])
        }
        try await withContent(policy: try PublishedContent.policy(whileUndetermined: .deny)) { testBed in
            try testBed.published.publishThree()
            #expect(try await testBed.names(try await testBed.newcomer(transactions: nil)) == [])
        }
    }

    @Test func `a customer gets links to content while a trial session is open`() async throws {
        try await withContent(policy: try PublishedContent.policy(trial: .sessions(2))) { testBed in
            try testBed.published.publishThree()
            var token = try await testBed.newcomer()
            #expect(try await testBed.names(token) == [])
            _ = try await testBed.client.beginSession("a", token: token)
            #expect(try await testBed.names(token) == ["grand-piano"])
            let link = try await testBed.links("grand-piano", token).archive
            testBed.clock.advance(by: 86_400 - 1)
            token = try await testBed.newcomer()
            #expect(try await testBed.names(token) == ["grand-piano"])
            #expect(try await testBed.code(of: link) == "200")
            testBed.clock.advance(by: 1)
            #expect(try await testBed.names(token) == [])
            _ = try await testBed.client.beginSession("b", token: token)
            #expect(try await testBed.names(token) == ["grand-piano"])
        }
        try await withContent(policy: try PublishedContent.policy(trial: .days(7))) { testBed in
            try testBed.published.publishThree()
            _ = try await testBed.client.beginSession("a", token: try await testBed.newcomer())
            testBed.clock.advance(by: 6 * 86_400)
            // A second session doesn't restart the trial's days.
            _ = try await testBed.client.beginSession("b", token: try await testBed.newcomer())
            testBed.clock.advance(by: 86_400 - 1)
            #expect(try await testBed.names(try await testBed.newcomer()) == ["grand-piano"])
            testBed.clock.advance(by: 1)
            #expect(try await testBed.names(try await testBed.newcomer()) == [])
        }
    }

    @Test func `an unbound customer gets the catalog of content, but no links`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let found = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let token = try await testBed.client.sync(found, from: nil).token
            let content = try await testBed.content(token)
            #expect(content.packs.isEmpty)
            _ = try SignedCatalog.verify(content.catalog.utf8, keys: testBed.published.keys, bundleID: nil)
        }
    }

    @Test func `links to content lead to the pack version that fits the app's version`() async throws {
        try await withContent { testBed in
            let everything = ContentCatalog.Unlock.entitlement("everything")
            try testBed.published.publish([
                testBed.published.pack("grand-piano", everything, minimum: "2"),
                testBed.published.pack("new", everything, seed: 2, minimum: "3.2"),
            ])
            let newer = try testBed.published.publish(
                [
                    testBed.published.pack("grand-piano", everything, seed: 3, minimum: "3.2"),
                    testBed.published.pack("new", everything, seed: 2, minimum: "3.2"),
                ], counter: 1001)
            let token = try await testBed.owner()
            func digest(_ version: String?) async throws -> String? {
                let link = try await testBed.content(token, appVersion: version).packs["grand-piano"]?.archive
                return link.map { String($0.dropFirst("/v1/content/".count).prefix(64)) }
            }
            let newest = newer.packs[0].version.archive.description
            let oldest = try #require(newer.catalog.catalog["grand-piano"]?.versions.first).archive.description
            #expect(newest != oldest)
            for version in [nil, "3.2", "3.10", "4"] { #expect(try await digest(version) == newest) }
            for version in ["2", "3.1.9"] { #expect(try await digest(version) == oldest) }
            // These versions are too old or malformed.
            for version in ["1.9", "", "x", "%F0%9F%92%A9"] { #expect(try await digest(version) == nil) }
            #expect(try await testBed.content(token, appVersion: "2").packs["new"] == nil)
        }
    }

    @Test func `a service without content gives no links`() async throws {
        try await withContent { testBed in
            let response = try await testBed.client.get("/v1/content", token: try await testBed.owner())
            let problem = try testBed.client.problem(response)
            #expect(problem.code == .notFound)
            #expect(problem.detail == "no content is published yet; publish it with `tenure content publish`")
        }
        try await withService { client in
            let owner = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let response = try await client.get("/v1/content", token: try await client.sync(owner).token)
            let problem = try client.problem(response)
            #expect(problem.code == .notFound)
            #expect(problem.detail == "this service delivers no content; set `content.folder` in its configuration")
        }
    }
}

@Suite struct `a catalog of content` {
    private static let piano = ContentCatalog.Unlock.entitlement("everything")

    private func counter(_ testBed: ContentTestBed) async throws -> Int64 {
        let text = try await testBed.content(try await testBed.owner()).catalog
        return try SignedCatalog.verify(text.utf8, keys: testBed.published.keys, bundleID: nil).counter
    }

    @Test func `a catalog of content is read again when it changes`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            #expect(try await counter(testBed) == PublishedContent.firstCounter)
            try testBed.published.publish([testBed.published.pack("piano-2", Self.piano)], counter: 1001)
            #expect(try await counter(testBed) == 1001)
            #expect(try await testBed.names(try await testBed.owner()) == ["piano-2"])
        }
    }

    @Test func `an invalid or missing catalog of content leaves the previous catalog in use`() async throws {
        try await withContent { testBed in
            try testBed.published.publishThree()
            let good = try await testBed.content(try await testBed.owner()).catalog
            let pack = try #require(
                try SignedCatalog.verify(good.utf8, keys: testBed.published.keys, bundleID: nil).catalog["grand-piano"])
            try testBed.published.replaceCatalog(Data("rubbish".utf8))
            #expect(try await counter(testBed) == PublishedContent.firstCounter)
            try FileManager.default.removeItem(atPath: testBed.published.folder + "/catalog.jws")
            #expect(try await counter(testBed) == PublishedContent.firstCounter)
            try testBed.published.replaceCatalog(
                try ContentCatalog(bundleID: "com.example.other", packs: [pack]), counter: 2000)
            #expect(try await counter(testBed) == PublishedContent.firstCounter)
            let alone = try ContentCatalog(bundleID: "com.example.calculator", packs: [pack])
            try testBed.published.replaceCatalog(alone, counter: PublishedContent.firstCounter - 1)
            #expect(try await counter(testBed) == PublishedContent.firstCounter)
            try testBed.published.replaceCatalog(alone, counter: PublishedContent.firstCounter)
            #expect(
                try await testBed.content(try await testBed.owner()).catalog == good,
                "a different catalog with the same counter is ignored")
            try testBed.published.replaceCatalog(alone, counter: 2001)
            #expect(try await counter(testBed) == 2001)
        }
    }

    @Test func `a rejected catalog of content is a failure with its counter, until a valid one replaces it`()
        async throws
    {
        try await withFolder { folder in
            let published = try PublishedContent(in: folder)
            let watched = ContentFolder(path: published.folder, bundleID: "com.example.calculator", staleness: .zero)
            try published.publishThree()
            let known = try #require(watched.catalog).catalog
            #expect(watched.failure == nil)
            try published.replaceCatalog(known, counter: 999)
            #expect(
                watched.failure
                    == .content(
                        "the content catalog has the counter 999, which is lower than the known counter 1000; "
                            + "publish again with a higher counter"))
            let other = try ContentCatalog(
                bundleID: "com.example.calculator", packs: [try #require(known["grand-piano"])])
            try published.replaceCatalog(other, counter: 1000)
            #expect(
                watched.failure
                    == .content(
                        "another content catalog already has the counter 1000; publish again with a higher counter"))
            // The same catalog may be signed again.
            try published.replaceCatalog(known, counter: 1000)
            #expect(watched.failure == nil)
            try published.replaceCatalog(other, counter: 1001)
            #expect(watched.failure == nil)
            #expect(watched.catalog?.counter == 1001)
        }
    }

    @Test func `a missing catalog of content is logged once`() async throws {
        try await withFolder { folder in
            let published = try PublishedContent(in: folder)
            let watched = ContentFolder(
                path: published.folder, bundleID: "com.example.calculator", staleness: .milliseconds(1))
            let lines = LogLines()
            let watch = ContentWatch(folder: watched, logger: lines.logger(.info))
            let task = Task { try await watch.run() }
            try await Task.sleep(for: .seconds(2.5))
            #expect(lines.texts.count == 1, "\(lines.texts)")
            #expect(lines.texts.first?.contains("there is no `\(published.folder)/catalog.jws`") == true)
            #expect(lines.texts.first?.contains("; nothing can be downloaded") == true)
            try published.publishThree()
            while lines.texts.count < 2 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(lines.texts.last?.contains("\"counter\":\"\(PublishedContent.firstCounter)\"") == true)
            task.cancel()
            try await task.value
        }
    }
}
