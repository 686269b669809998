import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenurePolicyFile
import Testing

@Suite struct `tenure content publish` {
    @Test func `tenure content publish names files by their SHA-256, and signs the catalog with the pinned key`()
        async throws
    {
        let testBed = try await ContentTestBed()
        let result = try await testBed.publish("--counter", "7")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("grand-piano: 2 files, 4 bytes, new\n"), "\(result.output)")
        let catalog = try testBed.catalog()
        #expect(catalog.counter == 7)
        #expect(catalog.catalog.packs.map(\.name) == ["grand-piano", "loops"])
        #expect(catalog.catalog["loops"]?.isPurgeable == true)
        #expect(catalog.catalog["grand-piano"]?.versions.first?.minimumAppVersion?.description == "3.2")
        let digests = try testBed.names().filter { ContentDigest($0) != nil }
        #expect(digests.count == 4)
        for name in digests {
            let sum = try Tool.run("/usr/bin/env", ["sha256sum", testBed.published + "/" + name])
            #expect(sum.output.hasPrefix(name + " "))
        }
        #expect(try testBed.names() == digests.union(["catalog.jws", "catalogs"]))
        // A web server of another user reads these files.
        let unreadable = try Tool.run("/usr/bin/find", [testBed.published, "-type", "f", "!", "-perm", "-044"])
        #expect(unreadable.status == 0 && unreadable.output.isEmpty, "\(unreadable.output)")
    }

    @Test func `tenure content publish doesn't write unchanged files again`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let first = try testBed.catalog()
        func inodes() throws -> [String: Int] {
            var inodes: [String: Int] = [:]
            for name in try testBed.names() where ContentDigest(name) != nil {
                let attributes = try FileManager.default.attributesOfItem(atPath: testBed.published + "/" + name)
                inodes[name] = (attributes[.systemFileNumber] as? NSNumber)?.intValue
            }
            return inodes
        }
        let before = try inodes()
        try testBed.write("c4", to: "piano/samples/c4.wav")
        let again = try await testBed.publish()
        #expect(again.status == 0 && again.output.contains("unchanged"), "\(again.output)")
        #expect(try inodes() == before)
        #expect(try testBed.catalog().catalog == first.catalog)
        #expect(try testBed.catalog().counter > first.counter)
        // A damaged file is written again.
        let archive = try #require(first.catalog["loops"]?.versions.first?.archive).description
        var damaged = try Data(contentsOf: testBed.folder.url("published/" + archive))
        damaged[600] ^= 1
        try damaged.write(to: testBed.folder.url("published/" + archive))
        #expect(try await testBed.publish().status == 0)
        #expect(
            ContentDigest(of: try Data(contentsOf: testBed.folder.url("published/" + archive))).description == archive)
    }

    @Test func `tenure content publish keeps pack versions for other app versions, and drops removed packs`()
        async throws
    {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let old = try #require(try testBed.catalog().catalog["grand-piano"]?.versions.first)
        try testBed.folder.write(
            "app: com.example.calculator\npacks: { grand-piano: { entitlement: everything, files: piano } }",
            to: "content.yaml")
        try testBed.write("changed", to: "piano/samples/c4.wav")
        let result = try await testBed.publish()
        #expect(result.status == 0 && result.output.contains("apps from 3.2 on keep the version"), "\(result.output)")
        #expect(result.output.contains("loops: removed from the catalog"))
        let pack = try #require(try testBed.catalog().catalog["grand-piano"])
        #expect(pack.versions.count == 2 && pack.versions.last == old && pack.versions.first?.minimumAppVersion == nil)
        // Clients know the counter of the catalog that is replaced.
        #expect(try await testBed.publish("--counter", "99999999999").status == 0)
        #expect(try await testBed.publish("--replace").status == 0)
        #expect(try testBed.catalog().catalog["grand-piano"]?.versions.count == 1)
        #expect(try testBed.catalog().counter == 100_000_000_000)
    }

    @Test
    func
        `tenure content publish refuses a counter that isn't higher than the last, and a new key without --previous-key`()
        async throws
    {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish("--counter", "7").status == 0)
        let before = try Data(contentsOf: testBed.folder.url("published/catalog.jws"))
        let low = try await testBed.publish("--counter", "7")
        #expect(low.status == 1 && low.errors.contains("`--counter 8`"), "\(low.errors)")
        let other = testBed.folder.url("other.pem").path
        let pin = try await Command.run("policy", "signing-key", other).output
        let refused = try await testBed.publish("--key", other)
        #expect(refused.status == 1 && refused.errors.contains("--replace"), "\(refused.errors)")
        #expect(try Data(contentsOf: testBed.folder.url("published/catalog.jws")) == before)
        #expect(try await testBed.publish("--key", other, "--previous-key", testBed.pin.text).status == 0)
        let listed = try await Command.run(
            "content", "list", testBed.published, "--json", "--key=" + pin.trimmingCharacters(in: .newlines))
        let json = try listed.json()
        #expect(listed.status == 0 && json["verified"] as? Bool == true && (json["packs"] as? [Any])?.count == 2)
        #expect(try await Command.run("content", "list", testBed.published, "--key", testBed.key).status == 2)
    }

    @Test func `tenure content list refuses a key file that is too large, and states the maximum size`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let large = try testBed.folder.write(String(repeating: "A", count: 65_537), to: "large.pem")
        let result = try await Command.run("content", "list", testBed.published, "--key", large)
        #expect(result.status == 1 && result.errors.contains("is larger than 64 KB"), "\(result.errors)")
    }

    /// A public key in Base64 for URLs may begin like an option.
    @Test func `tenure content publish accepts a public key that begins with a hyphen`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        var pin = ""
        while !pin.hasPrefix("-") { pin = PinnedKey(P256.Signing.PrivateKey().publicKey).text }
        let listed = try await Command.run(
            "content", "list", testBed.published, "--key", pin, "--key", testBed.pin.text)
        #expect(listed.status == 0, "\(listed.errors)")
        let result = try await testBed.publish("--previous-key", pin)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(arguments: ["publish", "embed"])
    func `tenure content publish and embed say why they can't create a folder`(command: String) async throws {
        let testBed = try await ContentTestBed()
        let key = command == "publish" ? ["--key", testBed.key] : []
        let content = testBed.folder.url("content.yaml").path
        let result = try await Command.run(["content", command, content, "--to", content + "/new/folder"] + key)
        #expect(result.status == 1)
        #expect(result.errors.contains("can't write `\(content)") && result.errors.contains("(not a directory)"))
    }

    @Test func `tenure content embed doesn't replace a file with its folder`() async throws {
        let testBed = try await ContentTestBed()
        let out = try testBed.folder.write("mine", to: "embedded")
        let result = try await testBed.run("embed", "--to", out)
        #expect(result.status == 1 && result.errors.contains("can't write `\(out)` (not a folder)"), "\(result.errors)")
        #expect(try testBed.folder.text("embedded") == "mine")
    }

    @Test func `tenure content publish refuses to publish its key, or to write into a pack's folder`() async throws {
        let testBed = try await ContentTestBed()
        let key = testBed.folder.url("loops/key.pem").path
        try FileManager.default.moveItem(atPath: testBed.key, toPath: key)
        let result = try await testBed.publish("--key", key)
        let words = "the key `\(key)` is inside the pack `loops`, and would be published; move it elsewhere"
        #expect(result.status == 1 && result.errors == "error: \(words)\n", "\(result.errors)")
        try FileManager.default.moveItem(atPath: key, toPath: testBed.key)
        let inside = try await testBed.publish("--to", testBed.folder.url("loops/published").path)
        #expect(inside.status == 1 && inside.errors.contains("is inside `"), "\(inside.errors)")
        #expect(!FileManager.default.fileExists(atPath: testBed.folder.url("loops/published").path))
    }

    @Test func `a second tenure content publish at the same time fails with a clear error`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let descriptor = open(testBed.published + "/catalogs/.lock", O_RDWR)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let result = try await testBed.publish()
        #expect(result.status == 1 && result.errors.contains("another `tenure content` command"), "\(result.errors)")
        flock(descriptor, LOCK_UN)
        #expect(try await testBed.publish().status == 0)
    }

    @Test func `a killed tenure content publish keeps the old catalog, and the next run cleans up`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish("--counter", "1").status == 0)
        var before = try testBed.catalog().text
        var kills = 0
        // On a busy machine, the command may end before the signal arrives. Then the next round publishes another file.
        for (byte, delay) in [30, 80, 140, 200, 260, 0, 0, 0].enumerated() {
            try testBed.write(Data(repeating: UInt8(byte), count: 96 << 20), to: "piano/large.bin")
            let command = try RunningCommand([
                "content", "publish", testBed.folder.url("content.yaml").path, "--key", testBed.key, "--to",
                testBed.published,
            ])
            for _ in 0..<500 where try !testBed.names().contains(where: { $0.hasPrefix(".unfinished-") }) {
                try await Task.sleep(for: .milliseconds(2))
            }
            try await Task.sleep(for: .milliseconds(delay))
            if await command.end(by: SIGKILL) == 0 {
                before = try testBed.catalog().text
            } else {
                kills += 1
                #expect(try testBed.catalog().text == before)
            }
        }
        #expect(kills > 0)
        #expect(try await testBed.publish().status == 0)
        #expect(try testBed.catalog().catalog["grand-piano"]?.versions.first?.installedSize == 96 << 20 + 4)
        #expect(try testBed.names().allSatisfy { !$0.hasPrefix(".unfinished-") })
    }

    @Test func `tenure content publish fails if a file changes after the pack's files were listed`() async throws {
        let testBed = try await ContentTestBed()
        let path = testBed.folder.url("loops/beat.caf").path
        let source = try PackSource(
            name: "loops", unlock: .entitlement("everything"), folder: testBed.folder.url("loops").path)
        try Data("other contents".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: PublishingError.changed(path: path)) {
            try ContentPublisher(folder: testBed.published, key: P256.Signing.PrivateKey()).publish(
                bundleID: "com.example.calculator", packs: [source])
        }
        #expect(try testBed.names() == ["catalogs"])
    }

    @Test func `tenure content publish fails if a file changes between its two reads`() async throws {
        let testBed = try await ContentTestBed()
        try testBed.write(Data(count: 3_000_000), to: "loops/beat.caf")
        let path = testBed.folder.url("loops/beat.caf").path
        let source = try PackSource(
            name: "loops", unlock: .entitlement("everything"), folder: testBed.folder.url("loops").path)
        var isChanged = false
        #expect(throws: PublishingError.changed(path: path)) {
            try ContentPublisher(folder: testBed.published, key: P256.Signing.PrivateKey()).publish(
                bundleID: "com.example.calculator", packs: [source]
            ) { _ in
                guard !isChanged, let file = FileHandle(forUpdatingAtPath: path) else { return }
                isChanged = true
                try? file.seek(toOffset: 2_999_000)
                try? file.write(contentsOf: Data("other".utf8))
                try? file.close()
            }
        }
        #expect(isChanged)
        #expect(try testBed.names() == ["catalogs"])
    }
}

@Suite struct `tenure content prune` {
    @Test func `tenure content prune removes only files that aren't in any catalog of the last 30 days`() async throws {
        let testBed = try await ContentTestBed()
        let key = P256.Signing.PrivateKey()
        let publisher = ContentPublisher(folder: testBed.published, key: key)
        var versions: [ContentCatalog.Version] = []
        // The second version was current until 29 days ago, the first version until 40 days ago.
        for (index, days) in [90.0, 40, 29].enumerated() {
            try testBed.write("version \(index)", to: "loops/beat.caf")
            let publication = try publisher.publish(
                bundleID: "com.example.calculator",
                packs: [
                    try PackSource(
                        name: "loops", unlock: .entitlement("everything"), folder: testBed.folder.url("loops").path)
                ], at: Date(timeIntervalSinceNow: -days * 86_400))
            versions.append(publication.packs[0].version)
        }
        try testBed.folder.write("mine", to: "published/notes.txt")
        let before = try testBed.names()
        let dry = try await Command.run("content", "prune", testBed.published, "--dry-run")
        let first = Set([versions[0].manifest.description, versions[0].archive.description])
        let bytes = versions[0].manifestSize + Int(versions[0].archiveSize)
        /// The lines about the first version's files, in the order of their names.
        func lines(_ verb: String) -> String {
            let lines = first.sorted().map { name in
                let isArchive = name == versions[0].archive.description
                return "\(verb) \(name)  \(isArchive ? "2.0 kB" : "\(versions[0].manifestSize) bytes")\n"
            }
            return lines.joined() + "\(verb) 2 files, \(bytes) bytes; kept 4 files\n"
        }
        #expect(dry.status == 0 && dry.output == lines("would remove"), "\(dry.output)\(dry.errors)")
        #expect(try testBed.names() == before)
        let result = try await Command.run("content", "prune", testBed.published)
        #expect(result.output == lines("removed"), "\(result.output)")
        #expect(try testBed.names() == before.subtracting(first))
        // A catalog that can't be read could contain any file.
        try testBed.folder.write("nonsense", to: "published/catalogs/5.jws")
        let damaged = try await Command.run("content", "prune", testBed.published)
        #expect(damaged.status == 1 && damaged.errors.contains("catalogs/5.jws` can't be read"), "\(damaged.errors)")
        #expect(damaged.errors.contains("delete it") && !damaged.errors.contains("--replace"), "\(damaged.errors)")
        try testBed.folder.write("nonsense", to: "published/catalog.jws")
        let unreadable = try await Command.run("content", "prune", testBed.published)
        #expect(unreadable.errors.contains("tenure content publish --replace"), "\(unreadable.errors)")
        #expect(try await Command.run("content", "prune", testBed.folder.url("loops").path).status == 1)
    }
}

extension `tenure content prune` {
    /// A publication was killed after it wrote its catalog under its counter, and before it replaced `catalog.jws`.
    @Test func `tenure content prune removes the files of a catalog that was never published`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish("--counter", "1").status == 0)
        let names = try testBed.names()
        let catalog = try Data(contentsOf: testBed.folder.url("published/catalog.jws"))
        try testBed.write("changed", to: "loops/beat.caf")
        #expect(try await testBed.publish("--counter", "2").status == 0)
        #expect(try testBed.names().count == names.count + 2)
        try catalog.write(to: testBed.folder.url("published/catalog.jws"))
        let result = try await Command.run("content", "prune", testBed.published)
        #expect(result.status == 0 && result.output.contains("removed 2 files"), "\(result.output)\(result.errors)")
        #expect(try testBed.names() == names)
    }
}

@Suite struct `tenure content embed` {
    @Test func `tenure content embed writes files and a content.json, and replaces only a folder that it wrote`()
        async throws
    {
        let testBed = try await ContentTestBed()
        #expect(try await testBed.publish().status == 0)
        let out = testBed.folder.url("embedded").path
        for _ in 0..<2 {
            let result = try await testBed.run("embed", "--to", out)
            #expect(result.status == 0, "\(result.errors)")
        }
        let content = try EmbeddedContent(json: Data(contentsOf: testBed.folder.url("embedded/content.json")))
        let pack = try #require(content["grand-piano"])
        #expect(pack.unlock == .entitlement("everything") && pack.minimumAppVersion?.description == "3.2")
        #expect(pack.version == (try testBed.catalog().catalog["grand-piano"]?.versions.first?.manifest))
        #expect(pack.files.map(\.path) == ["samples/c4.wav", "samples/c5.wav"] && pack.installedSize == 4)
        #expect(try testBed.folder.text("embedded/grand-piano/samples/c4.wav") == "c4")
        #expect(try testBed.folder.text("embedded/loops/beat.caf") == "beat")
        try testBed.folder.write("mine", to: "embedded/notes.txt")
        let refused = try await testBed.run("embed", "--to", out)
        #expect(refused.status == 1 && refused.errors.contains("`notes.txt`"), "\(refused.errors)")
        #expect(try testBed.folder.text("embedded/notes.txt") == "mine")
    }

    @Test(arguments: ["grand-piano/notes.txt", "grand-piano/samples/mine/c4.wav", "loops/samples/beat.caf"])
    func `tenure content embed refuses to delete a file in a pack's folder that it didn't write`(path: String)
        async throws
    {
        let testBed = try await ContentTestBed()
        let out = testBed.folder.url("embedded").path
        #expect(try await testBed.run("embed", "--to", out).status == 0)
        let file = testBed.folder.url("embedded/" + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try testBed.folder.write("mine", to: "embedded/" + path)
        try testBed.folder.write("Finder's", to: "embedded/loops/.DS_Store")
        let refused = try await testBed.run("embed", "--to", out)
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(refused.errors.contains("tenure content embed` didn't write; move it away"), "\(refused.errors)")
        #expect(try testBed.folder.text("embedded/" + path) == "mine")
        try FileManager.default.removeItem(at: file)
        if path.contains("/mine/") || path.hasPrefix("loops/") {
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }
        #expect(try await testBed.run("embed", "--to", out).status == 0)
    }
}
