import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenurePolicyFile
import Testing

@Suite struct `tenure content publish` {
    @Test func `writes files that sha256sum names and a catalog that the pinned key verifies`() async throws {
        let desk = try await ContentDesk()
        let result = try await desk.publish("--counter", "7")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("grand-piano: 2 files, 4 bytes, new\n"), "\(result.output)")
        let catalog = try desk.catalog()
        #expect(catalog.counter == 7)
        #expect(catalog.catalog.packs.map(\.name) == ["grand-piano", "loops"])
        #expect(catalog.catalog["loops"]?.isPurgeable == true)
        #expect(catalog.catalog["grand-piano"]?.versions.first?.minimumAppVersion?.description == "3.2")
        let digests = try desk.names().filter { ContentDigest($0) != nil }
        #expect(digests.count == 4)
        for name in digests {
            let sum = try Tool.run("/usr/bin/env", ["sha256sum", desk.published + "/" + name])
            #expect(sum.output.hasPrefix(name + " "))
        }
        #expect(try desk.names() == digests.union(["catalog.jws", "catalogs"]))
    }

    @Test func `the same files give the same bytes, and nothing is written again`() async throws {
        let desk = try await ContentDesk()
        #expect(try await desk.publish().status == 0)
        let first = try desk.catalog()
        func inodes() throws -> [String: Int] {
            var inodes: [String: Int] = [:]
            for name in try desk.names() where ContentDigest(name) != nil {
                let attributes = try FileManager.default.attributesOfItem(atPath: desk.published + "/" + name)
                inodes[name] = (attributes[.systemFileNumber] as? NSNumber)?.intValue
            }
            return inodes
        }
        let before = try inodes()
        try desk.write("c4", to: "piano/samples/c4.wav")
        let again = try await desk.publish()
        #expect(again.status == 0 && again.output.contains("unchanged"), "\(again.output)")
        #expect(try inodes() == before)
        #expect(try desk.catalog().catalog == first.catalog)
        #expect(try desk.catalog().counter > first.counter)
        // A damaged file is written again.
        let archive = try #require(first.catalog["loops"]?.versions.first?.archive).description
        var damaged = try Data(contentsOf: desk.folder.url("published/" + archive))
        damaged[600] ^= 1
        try damaged.write(to: desk.folder.url("published/" + archive))
        #expect(try await desk.publish().status == 0)
        #expect(ContentDigest(of: try Data(contentsOf: desk.folder.url("published/" + archive))).description == archive)
    }

    @Test func `keeps versions for other apps, and drops packs that left the file`() async throws {
        let desk = try await ContentDesk()
        #expect(try await desk.publish().status == 0)
        let old = try #require(try desk.catalog().catalog["grand-piano"]?.versions.first)
        try desk.folder.write(
            "app: com.example.calculator\npacks: { grand-piano: { entitlement: everything, files: piano } }",
            to: "content.yaml")
        try desk.write("changed", to: "piano/samples/c4.wav")
        let result = try await desk.publish()
        #expect(result.status == 0 && result.output.contains("apps from 3.2 keep the version"), "\(result.output)")
        #expect(result.output.contains("loops: left the catalog"))
        let pack = try #require(try desk.catalog().catalog["grand-piano"])
        #expect(pack.versions.count == 2 && pack.versions.last == old && pack.versions.first?.minimumAppVersion == nil)
        #expect(try await desk.publish("--replace").status == 0)
        #expect(try desk.catalog().catalog["grand-piano"]?.versions.count == 1)
    }

    @Test func `refuses a counter that doesn't rise and a catalog of another key`() async throws {
        let desk = try await ContentDesk()
        #expect(try await desk.publish("--counter", "7").status == 0)
        let before = try Data(contentsOf: desk.folder.url("published/catalog.jws"))
        let low = try await desk.publish("--counter", "7")
        #expect(low.status == 1 && low.errors.contains("`--counter 8`"), "\(low.errors)")
        let other = desk.folder.url("other.pem").path
        let pin = try await Command.run("policy", "key", other).output
        let refused = try await desk.publish("--key", other)
        #expect(refused.status == 1 && refused.errors.contains("--replace"), "\(refused.errors)")
        #expect(try Data(contentsOf: desk.folder.url("published/catalog.jws")) == before)
        #expect(try await desk.publish("--key", other, "--previous-key", desk.pin.text).status == 0)
        let listed = try await Command.run(
            "content", "list", desk.published, "--json", "--key=" + pin.trimmingCharacters(in: .newlines))
        let json = try listed.json()
        #expect(listed.status == 0 && json["verified"] as? Bool == true && (json["packs"] as? [Any])?.count == 2)
        #expect(try await Command.run("content", "list", desk.published, "--key", desk.key).status == 2)
    }

    @Test func `refuses to publish its key, or into a pack's folder`() async throws {
        let desk = try await ContentDesk()
        let key = desk.folder.url("loops/key.pem").path
        try FileManager.default.moveItem(atPath: desk.key, toPath: key)
        let result = try await desk.publish("--key", key)
        #expect(result.status == 1 && result.errors.contains("would be published"), "\(result.errors)")
        try FileManager.default.moveItem(atPath: key, toPath: desk.key)
        let inside = try await desk.publish("--to", desk.folder.url("loops/published").path)
        #expect(inside.status == 1 && inside.errors.contains("is inside of"), "\(inside.errors)")
        #expect(!FileManager.default.fileExists(atPath: desk.folder.url("loops/published").path))
    }

    @Test func `a second publication at the same time fails clearly`() async throws {
        let desk = try await ContentDesk()
        #expect(try await desk.publish().status == 0)
        let descriptor = open(desk.published + "/catalogs/.lock", O_RDWR)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let result = try await desk.publish()
        #expect(result.status == 1 && result.errors.contains("another `tenure content` command"), "\(result.errors)")
        flock(descriptor, LOCK_UN)
        #expect(try await desk.publish().status == 0)
    }

    @Test func `killed at any time, it leaves the catalog before, and the next run cleans up`() async throws {
        let desk = try await ContentDesk()
        #expect(try await desk.publish("--counter", "1").status == 0)
        let before = try desk.catalog().text
        try desk.write(Data(repeating: 7, count: 96 << 20), to: "piano/large.bin")
        var kills = 0
        for delay in [30, 80, 140, 200, 260] {
            let command = try RunningCommand([
                "content", "publish", desk.folder.url("content.yaml").path, "--key", desk.key, "--to", desk.published,
            ])
            for _ in 0..<500 where try !desk.names().contains(where: { $0.hasPrefix(".unfinished-") }) {
                try await Task.sleep(for: .milliseconds(2))
            }
            try await Task.sleep(for: .milliseconds(delay))
            guard await command.end(by: SIGKILL) != 0 else { break }
            kills += 1
            #expect(try desk.catalog().text == before)
        }
        #expect(kills > 0)
        #expect(try await desk.publish().status == 0)
        #expect(try desk.catalog().catalog["grand-piano"]?.versions.first?.installedSize == 96 << 20 + 4)
        #expect(try desk.names().allSatisfy { !$0.hasPrefix(".unfinished-") })
    }

    @Test func `a file that changes while it is read is an error`() async throws {
        let desk = try await ContentDesk()
        let path = desk.folder.url("loops/beat.caf").path
        let source = try PackSource(
            name: "loops", unlock: .entitlement("everything"), folder: desk.folder.url("loops").path)
        try Data("other contents".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: PublishingError.changed(path: path)) {
            try ContentPublisher(folder: desk.published, key: P256.Signing.PrivateKey()).publish(
                bundleID: "com.example.calculator", packs: [source])
        }
        #expect(try desk.names() == ["catalogs"])
    }
}

@Suite struct `tenure content prune` {
    @Test func `removes only what no catalog of the last 30 days named`() async throws {
        let desk = try await ContentDesk()
        let key = P256.Signing.PrivateKey()
        let publisher = ContentPublisher(folder: desk.published, key: key)
        var versions: [ContentCatalog.Version] = []
        // The second one was current until 29 days ago, the first one until 40 days ago.
        for (index, days) in [90.0, 40, 29].enumerated() {
            try desk.write("version \(index)", to: "loops/beat.caf")
            let publication = try publisher.publish(
                bundleID: "com.example.calculator",
                packs: [
                    try PackSource(
                        name: "loops", unlock: .entitlement("everything"), folder: desk.folder.url("loops").path)
                ], at: Date(timeIntervalSinceNow: -days * 86_400))
            versions.append(publication.packs[0].version)
        }
        try desk.folder.write("mine", to: "published/notes.txt")
        let before = try desk.names()
        let dry = try await Command.run("content", "prune", desk.published, "--dry-run")
        let first = Set([versions[0].manifest.description, versions[0].archive.description])
        #expect(dry.status == 0 && first.allSatisfy(dry.output.contains), "\(dry.output)\(dry.errors)")
        #expect(try desk.names() == before)
        let result = try await Command.run("content", "prune", desk.published)
        let bytes = versions[0].manifestSize + Int(versions[0].archiveSize)
        #expect(result.output.contains("removed 2 files, \(bytes) bytes; kept 4"), "\(result.output)")
        #expect(try desk.names() == before.subtracting(first))
        // A catalog that can't be read may name anything.
        try desk.folder.write("nonsense", to: "published/catalogs/5.jws")
        #expect(try await Command.run("content", "prune", desk.published).status == 1)
        #expect(try await Command.run("content", "prune", desk.folder.url("loops").path).status == 1)
    }
}

@Suite struct `tenure content embed` {
    @Test func `writes plain files that content json describes, and replaces only its own folder`() async throws {
        let desk = try await ContentDesk()
        #expect(try await desk.publish().status == 0)
        let out = desk.folder.url("embedded").path
        for _ in 0..<2 {
            let result = try await desk.run("embed", "--to", out)
            #expect(result.status == 0, "\(result.errors)")
        }
        let content = try EmbeddedContent(json: Data(contentsOf: desk.folder.url("embedded/content.json")))
        let pack = try #require(content["grand-piano"])
        #expect(pack.unlock == .entitlement("everything") && pack.minimumAppVersion?.description == "3.2")
        #expect(pack.version == (try desk.catalog().catalog["grand-piano"]?.versions.first?.manifest))
        #expect(pack.files.map(\.path) == ["samples/c4.wav", "samples/c5.wav"] && pack.installedSize == 4)
        #expect(try desk.folder.text("embedded/grand-piano/samples/c4.wav") == "c4")
        #expect(try desk.folder.text("embedded/loops/beat.caf") == "beat")
        try desk.folder.write("mine", to: "embedded/notes.txt")
        let refused = try await desk.run("embed", "--to", out)
        #expect(refused.status == 1 && refused.errors.contains("`notes.txt`"), "\(refused.errors)")
        #expect(try desk.folder.text("embedded/notes.txt") == "mine")
    }
}
