import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenurePolicyFile
import Testing

/// What a publication keeps, replaces and removes in a published folder.
@Suite struct `A publication of asset packs` {
    private static let app = "com.example.calculator"

    private let folder: Folder
    private let key = P256.Signing.PrivateKey()
    private var published: String { folder.url("published").path }

    init() throws {
        folder = try Folder()
        for name in ["bass", "loops"] {
            try FileManager.default.createDirectory(at: folder.url(name), withIntermediateDirectories: false)
            try folder.write("contents of \(name)", to: "\(name)/a.txt")
        }
    }

    private func source(_ name: String) throws -> PackSource {
        try PackSource(name: name, unlock: .entitlement("everything"), folder: folder.url(name).path)
    }

    private func publish(
        _ names: [String] = ["loops"], at seconds: TimeInterval = 1, counter: Int64? = nil, replacing: Bool = false,
        by key: P256.Signing.PrivateKey? = nil, previousKeys: [PinnedKey] = [], app: String = Self.app
    ) throws -> ContentPublisher.Publication {
        try ContentPublisher(folder: published, key: key ?? self.key, previousKeys: previousKeys).publish(
            bundleID: app, packs: names.map { try source($0) }, counter: counter,
            at: Date(timeIntervalSince1970: seconds), replacing: replacing)
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: published))
    }

    @Test func `the counter is the time in seconds, and at least one more than that of the previous catalog`() throws {
        let counters = try [-5, 5.9, 3, 100, 100].map { try publish(at: $0).catalog.counter }
        #expect(counters == [1, 5, 6, 100, 101])
        #expect(throws: PublishingError.counterTooLow(counter: 101, previous: 101)) { try publish(counter: 101) }
        #expect(try publish(counter: 102).catalog.counter == 102)
        #expect(try publish(at: 1000).catalog.issuedAt == Date(timeIntervalSince1970: 1000))
    }

    @Test func `a publication lists its packs as they were passed, and the packs that it drops`() throws {
        let first = try publish(["loops", "bass"])
        #expect(first.packs.map(\.name) == ["loops", "bass"] && first.packs.map(\.isNew) == [true, true])
        #expect(first.catalog.catalog.packs.map(\.name) == ["bass", "loops"] && first.droppedPacks.isEmpty)
        for pack in first.packs {
            #expect(first.catalog.catalog[pack.name]?.versions == [pack.version])
            #expect(pack.manifest.files.map(\.path) == ["a.txt"])
            #expect(pack.version.installedSize == Int64("contents of \(pack.name)".utf8.count))
        }
        let second = try publish(["loops"])
        #expect(second.droppedPacks == ["bass"] && second.packs.map(\.isNew) == [false])
        #expect(try publish(["bass"], replacing: true).droppedPacks.isEmpty)
    }

    @Test func `a publication writes missing and damaged files again, and removes unfinished ones`() throws {
        let pack = try #require(try publish().packs.first)
        let (manifest, archive) = (pack.version.manifest.description, pack.version.archive.description)
        let contents = try [manifest, archive].map { try Data(contentsOf: folder.url("published/" + $0)) }
        for name in [".unfinished-1", ".unfinished-x", ".unfinished", "notes"] {
            try folder.write("x", to: "published/" + name)
        }
        func expectWhole(isNew: Bool) throws {
            #expect(try publish().packs.map(\.isNew) == [isNew])
            #expect(try [manifest, archive].map { try Data(contentsOf: folder.url("published/" + $0)) } == contents)
        }
        try FileManager.default.removeItem(at: folder.url("published/" + manifest))
        try expectWhole(isNew: false)
        #expect(try names() == [manifest, archive, ".unfinished", "notes", "catalog.jws", "catalogs"])
        try Data(repeating: 0x20, count: contents[0].count).write(to: folder.url("published/" + manifest))
        try expectWhole(isNew: false)
        try FileManager.default.removeItem(at: folder.url("published/" + archive))
        try expectWhole(isNew: true)
        try contents[1].dropLast().write(to: folder.url("published/" + archive))
        try expectWhole(isNew: true)
    }

    @Test func `the archive of a pack is the same for the same files, byte for byte as tar defines it`() throws {
        try folder.write("c4", to: "loops/a.txt")
        let version = try #require(try publish().packs.first?.version)
        let bytes = Array(try Data(contentsOf: folder.url("published/\(version.archive)")))
        #expect(bytes.count == 2048 && version.archiveSize == 2048)
        func field(_ start: Int, _ text: String, _ width: Int) {
            let expected = Array(text.utf8) + [UInt8](repeating: 0, count: width - text.utf8.count)
            #expect(Array(bytes[start..<start + width]) == expected, "\(start)")
        }
        field(0, "a.txt", 100)
        for start in [108, 116, 329, 337] { field(start, "0000000", 8) }
        field(100, "0000644", 8)
        field(124, "00000000002", 12)
        field(136, "00000000000", 12)
        field(156, "0", 101)
        field(257, "ustar\0" + "00", 72)
        field(345, "", 167)
        field(512, "c4", 1536)
        // The checksum is the sum of the header's bytes, with blanks in place of the checksum.
        let sum = bytes[..<148].reduce(0) { $0 + Int($1) } + 8 * 32 + bytes[156..<512].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        field(148, String(repeating: "0", count: 6 - digits.count) + digits + "\0 ", 8)
        // The mode and the date of a file have no effect.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600, .modificationDate: Date(timeIntervalSince1970: 5)],
            ofItemAtPath: folder.url("loops/a.txt").path)
        #expect(try publish().packs.map(\.version) == [version])
    }

    @Test func `progress counts each byte that is read, also if a file is read twice to compare it`() throws {
        func bytesRead() throws -> Int {
            var sum = 0
            _ = try ContentPublisher(folder: published, key: key).publish(
                bundleID: Self.app, packs: [try source("loops"), try source("bass")]
            ) { sum += $0 }
            return sum
        }
        // The first files have 17 and 16 bytes. Both archives have the same size, so the second pack is read twice.
        #expect(try bytesRead() == 17 + 2 * 16)
        #expect(try bytesRead() == 17 + 16)
        try folder.write(String(repeating: "x", count: 2000), to: "bass/a.txt")
        #expect(try bytesRead() == 17 + 2000)
    }

    @Test func `a catalog by another key or of another app is refused, and the folder stays as it is`() throws {
        _ = try publish(at: 7)
        let path = published + "/catalog.jws"
        let (before, catalog) = (try names(), try Data(contentsOf: URL(fileURLWithPath: path)))
        let other = P256.Signing.PrivateKey()
        #expect(throws: PublishingError.foreignCatalog(path: path, .wrongSignature)) {
            try publish(["bass"], by: other, previousKeys: [PinnedKey(P256.Signing.PrivateKey().publicKey)])
        }
        let app = ContentError.wrongApp(found: Self.app, wanted: "com.example.notes")
        #expect(throws: PublishingError.foreignCatalog(path: path, app)) {
            try publish(["bass"], app: "com.example.notes")
        }
        let pack = folder.url("bass").path
        #expect(throws: PublishingError.outputInPack(folder: pack + "/out", pack: pack)) {
            try ContentPublisher(folder: pack + "/out", key: key).publish(
                bundleID: Self.app, packs: [try source("loops"), try source("bass")])
        }
        #expect(!FileManager.default.fileExists(atPath: pack + "/out"))
        #expect(try names() == before && Data(contentsOf: URL(fileURLWithPath: path)) == catalog)
        let keys = [PinnedKey(P256.Signing.PrivateKey().publicKey), PinnedKey(key.publicKey)]
        #expect(try publish(["bass"], by: other, previousKeys: keys).catalog.counter == 8)
    }

    @Test func `a publication after a damaged or deleted catalog continues the counter`() throws {
        _ = try publish(at: 7)
        for name in ["0099.jws", "88.jws.bak", "x.jws", "77", "-9.jws", "0.jws"] {
            try folder.write("x", to: "published/catalogs/" + name)
        }
        // A publication that was killed wrote the next catalog.
        try folder.write("x", to: "published/catalogs/10.jws")
        #expect(try publish(replacing: true).catalog.counter == 8)
        try folder.write("x", to: "published/catalog.jws")
        #expect(throws: PublishingError.self) { try publish() }
        #expect(try publish(replacing: true).catalog.counter == 11)
        // Clients still know the counter of a catalog that was deleted.
        try FileManager.default.removeItem(at: folder.url("published/catalog.jws"))
        #expect(throws: PublishingError.counterTooLow(counter: 11, previous: 11)) { try publish(counter: 11) }
        #expect(try publish(at: 3).catalog.counter == 12)
    }
}
