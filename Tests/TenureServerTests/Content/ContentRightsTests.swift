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

@Suite struct `links to content` {
    @Test func `are for packs to which the customer is entitled, and for no others`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            let owner = try await world.content(try await world.owner())
            #expect(owner.packs.keys.sorted() == ["grand-piano"])
            let signed = try SignedCatalog.verify(
                owner.catalog.utf8, keys: world.published.keys, bundleID: "com.example.calculator")
            #expect(signed.catalog.packs.map(\.name) == ["grand-piano", "loops", "samples"])
            #expect(owner.packs["grand-piano"]?.expiresAt == Calculator.now.addingTimeInterval(86_400))
            #expect(try await world.names(try await world.newcomer()) == [])
        }
    }

    @Test func `need the access token of a customer`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            for token in [nil, "", "x", String(repeating: "A", count: 67)] {
                let response = try await world.client.get("/v1/content", token: token)
                #expect(try world.client.problem(response).code == .notAuthenticated)
            }
            let token = try await world.owner()
            world.clock.advance(by: 3600)
            #expect(try await world.client.get("/v1/content", token: token).status == .unauthorized)
        }
    }

    @Test func `by a product are for those who bought this very product`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            let bought = try world.purchase(of: PublishedContent.loops)
            #expect(try await world.names(try await world.newcomer(transactions: [bought])) == ["loops"])
            let other = try world.purchase(of: Calculator.everything, by: "704000000000000003")
            #expect(
                try await world.names(try await world.newcomer("704000000000000003", transactions: [other]))
                    == ["grand-piano"])
        }
    }

    @Test func `come while decisions are undetermined, for as long as the policy allows`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            let everything = ["grand-piano", "loops", "samples"]
            #expect(try await world.names(try await world.newcomer(transactions: nil)) == everything)
            world.clock.advance(by: 72 * 3600 - 1)
            #expect(try await world.names(try await world.newcomer(transactions: nil)) == everything)
            world.clock.advance(by: 1)
            #expect(try await world.names(try await world.newcomer(transactions: nil)) == [])
        }
        try await withContent(policy: try PublishedContent.policy(whileUndetermined: .deny)) { world in
            try world.published.publishThree()
            #expect(try await world.names(try await world.newcomer(transactions: nil)) == [])
        }
    }

    @Test func `come for as long as a trial session is open`() async throws {
        try await withContent(policy: try PublishedContent.policy(trial: .sessions(2))) { world in
            try world.published.publishThree()
            var token = try await world.newcomer()
            #expect(try await world.names(token) == [])
            _ = try await world.client.beginSession("a", token: token)
            #expect(try await world.names(token) == ["grand-piano"])
            let link = try await world.links("grand-piano", token).archive
            world.clock.advance(by: 86_400 - 1)
            token = try await world.newcomer()
            #expect(try await world.names(token) == ["grand-piano"])
            #expect(try await world.code(of: link) == "200")
            world.clock.advance(by: 1)
            #expect(try await world.names(token) == [])
            _ = try await world.client.beginSession("b", token: token)
            #expect(try await world.names(token) == ["grand-piano"])
        }
        try await withContent(policy: try PublishedContent.policy(trial: .days(7))) { world in
            try world.published.publishThree()
            _ = try await world.client.beginSession("a", token: try await world.newcomer())
            world.clock.advance(by: 7 * 86_400 - 1)
            #expect(try await world.names(try await world.newcomer()) == ["grand-piano"])
            world.clock.advance(by: 1)
            #expect(try await world.names(try await world.newcomer()) == [])
        }
    }

    @Test func `never come for unbound proof, which gets the catalog`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            let found = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let token = try await world.client.sync(found, from: nil).token
            let content = try await world.content(token)
            #expect(content.packs.isEmpty)
            _ = try SignedCatalog.verify(content.catalog.utf8, keys: world.published.keys, bundleID: nil)
        }
    }

    @Test func `lead to the version that fits the app's`() async throws {
        try await withContent { world in
            let everything = ContentCatalog.Unlock.entitlement("everything")
            try world.published.publish([
                world.published.pack("grand-piano", everything, minimum: "2"),
                world.published.pack("new", everything, seed: 2, minimum: "3.2"),
            ])
            let newer = try world.published.publish(
                [
                    world.published.pack("grand-piano", everything, seed: 3, minimum: "3.2"),
                    world.published.pack("new", everything, seed: 2, minimum: "3.2"),
                ], counter: 1001)
            let token = try await world.owner()
            func digest(_ version: String?) async throws -> String? {
                let link = try await world.content(token, appVersion: version).packs["grand-piano"]?.archive
                return link.map { String($0.dropFirst("/v1/content/".count).prefix(64)) }
            }
            let newest = newer.packs[0].version.archive.description
            let oldest = try #require(newer.catalog.catalog["grand-piano"]?.versions.first).archive.description
            #expect(newest != oldest)
            for version in [nil, "3.2", "3.10", "4"] { #expect(try await digest(version) == newest) }
            for version in ["2", "3.1.9"] { #expect(try await digest(version) == oldest) }
            // Too old, and none that can be read.
            for version in ["1.9", "", "x", "%F0%9F%92%A9"] { #expect(try await digest(version) == nil) }
            #expect(try await world.content(token, appVersion: "2").packs["new"] == nil)
        }
    }

    @Test func `aren't there without content`() async throws {
        try await withContent { world in
            let response = try await world.client.get("/v1/content", token: try await world.owner())
            #expect(try world.client.problem(response).code == .notFound, "nothing is published")
        }
        try await withService { client in
            let owner = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let response = try await client.get("/v1/content", token: try await client.sync(owner).token)
            #expect(try client.problem(response).code == .notFound)
        }
    }
}

@Suite struct `a catalog of content` {
    private static let piano = ContentCatalog.Unlock.entitlement("everything")

    private func counter(_ world: ContentWorld) async throws -> Int64 {
        let text = try await world.content(try await world.owner()).catalog
        return try SignedCatalog.verify(text.utf8, keys: world.published.keys, bundleID: nil).counter
    }

    @Test func `is read again when it changes`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            #expect(try await counter(world) == PublishedContent.firstCounter)
            try world.published.publish([world.published.pack("piano-2", Self.piano)], counter: 1001)
            #expect(try await counter(world) == 1001)
            #expect(try await world.names(try await world.owner()) == ["piano-2"])
        }
    }

    @Test func `that can't be used leaves the one before in use`() async throws {
        try await withContent { world in
            try world.published.publishThree()
            let good = try await world.content(try await world.owner()).catalog
            let pack = try #require(
                try SignedCatalog.verify(good.utf8, keys: world.published.keys, bundleID: nil).catalog["grand-piano"])
            try world.published.replaceCatalog(Data("rubbish".utf8))
            #expect(try await counter(world) == PublishedContent.firstCounter)
            try FileManager.default.removeItem(atPath: world.published.folder + "/catalog.jws")
            #expect(try await counter(world) == PublishedContent.firstCounter)
            try world.published.replaceCatalog(
                try ContentCatalog(bundleID: "com.example.other", packs: [pack]), counter: 2000)
            #expect(try await counter(world) == PublishedContent.firstCounter)
            let alone = try ContentCatalog(bundleID: "com.example.calculator", packs: [pack])
            try world.published.replaceCatalog(alone, counter: PublishedContent.firstCounter - 1)
            #expect(try await counter(world) == PublishedContent.firstCounter)
            try world.published.replaceCatalog(alone, counter: PublishedContent.firstCounter)
            #expect(try await world.content(try await world.owner()).catalog == good, "another one with this counter")
            try world.published.replaceCatalog(alone, counter: 2001)
            #expect(try await counter(world) == 2001)
        }
    }

    @Test func `that can't be used is logged once`() async throws {
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
            try published.publishThree()
            while lines.texts.count < 2 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(lines.texts.last?.contains("\"counter\":\"\(PublishedContent.firstCounter)\"") == true)
            task.cancel()
            try await task.value
        }
    }
}
