import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import Testing

/// Which files of earlier catalogs are kept, and for how long.
@Suite struct `Pruning of a published folder` {
    private static let day: TimeInterval = 86_400
    private static let start = Date(timeIntervalSince1970: 1_795_176_000)

    private let folder: Folder
    private let published: ContentFolder

    init() throws {
        folder = try Folder()
        published = ContentFolder(path: folder.url("published").path)
        try FileManager.default.createDirectory(at: folder.url("loops"), withIntermediateDirectories: false)
    }

    /// Publishes a pack with other contents at each of these times, in seconds since `start`.
    private func publish(at times: [TimeInterval]) throws {
        let publisher = ContentPublisher(folder: published.path, key: P256.Signing.PrivateKey())
        for (index, time) in times.enumerated() {
            try folder.write("version \(index)", to: "loops/beat.caf")
            let source = try PackSource(
                name: "loops", unlock: .entitlement("everything"), folder: folder.url("loops").path)
            _ = try publisher.publish(
                bundleID: "com.example.calculator", packs: [source], counter: Int64(index + 1),
                at: Self.start.addingTimeInterval(time))
        }
    }

    /// The numbers of removed and kept files at a time, in seconds since `start`. Removes nothing.
    private func counts(at time: TimeInterval) throws -> [Int] {
        let pruning = try published.prune(at: Self.start.addingTimeInterval(time), removing: false)
        return [pruning.removed.count, pruning.kept]
    }

    @Test func `files are kept until thirty days after the catalog that names them was replaced`() throws {
        // The first catalog is current for a day, and the second one for ten days.
        try publish(at: [0, Self.day, 11 * Self.day])
        #expect(try counts(at: 31 * Self.day - 1) == [0, 6])
        #expect(try counts(at: 31 * Self.day) == [2, 4])
        #expect(try counts(at: 41 * Self.day - 1) == [2, 4])
        #expect(try counts(at: 41 * Self.day) == [4, 2])
        // The current catalog's files have no end.
        #expect(try counts(at: 10_000 * Self.day) == [4, 2])
    }

    @Test func `a catalog that seems newer than the next one keeps its files as long as the next one`() throws {
        // The clock was wrong when the second catalog was issued.
        try publish(at: [0, -100 * Self.day, Self.day])
        #expect(try counts(at: 31 * Self.day - 1) == [0, 6])
        #expect(try counts(at: 31 * Self.day) == [4, 2])
    }

    @Test func `pruning removes only files that are named by their digests, and states their sizes`() throws {
        try publish(at: [0, Self.day])
        let text = try Data(contentsOf: folder.url("published/catalogs/1.jws"))
        let version = try #require(try SignedCatalog.unverified(text).catalog["loops"]?.versions.first)
        let (letters, others) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        try FileManager.default.createDirectory(
            at: folder.url("published/" + letters), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: folder.url("published/" + others).path, withDestinationPath: folder.url("loops/beat.caf").path)
        for name in ["notes", ".unfinished-1", String(repeating: "C", count: 64), String(letters.dropLast())] {
            try folder.write("x", to: "published/" + name)
        }
        func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: published.path)) }
        let (before, old) = (try names(), [version.manifest.description, version.archive.description])
        let pruning = try published.prune(at: Self.start.addingTimeInterval(40 * Self.day))
        #expect(Set(pruning.removed.map(\.name)) == Set(old) && pruning.kept == 2)
        #expect(pruning.removedSize == Int64(version.manifestSize) + version.archiveSize)
        #expect(try names() == before.subtracting(old))
        #expect(try counts(at: 40 * Self.day) == [0, 2])
    }

    @Test func `pruning removes nothing if an earlier catalog is damaged, however old it is`() throws {
        try publish(at: [0, Self.day])
        let path = published.path + "/catalogs/1.jws"
        for (text, reason) in [
            ("x", "it isn't a compact JWS, which has three parts"),
            // Only one byte more than allowed is read.
            (
                String(repeating: "x", count: 2_000_000),
                "it has 1399125 bytes; a catalog has at most 1399124"
            ),
        ] {
            try folder.write(text, to: "published/catalogs/1.jws")
            #expect(throws: PublishingError.damagedCatalog(path: path, .invalidCatalog(reason))) {
                try published.prune(at: Self.start.addingTimeInterval(40 * Self.day))
            }
        }
        // Without that catalog, its files are in no catalog.
        try FileManager.default.removeItem(atPath: path)
        #expect(try counts(at: Self.day) == [2, 2])
    }

    @Test func `a folder without a catalog isn't a published folder, and pruning doesn't change it`() throws {
        #expect(throws: PublishingError.notPublished(folder: published.path)) { try published.prune() }
        #expect(!FileManager.default.fileExists(atPath: published.path))
        #expect(try published.catalogText() == nil)
        #expect(try ContentFolder(path: folder.url("loops").path + "/none/below").catalogText() == nil)
        let file = try folder.write("x", to: "file")
        #expect(try ContentFolder(path: file).catalogText() == nil)
        // The catalog's name belongs to a folder.
        let catalog = folder.url("published/catalog.jws").path
        try FileManager.default.createDirectory(atPath: catalog, withIntermediateDirectories: true)
        #expect(throws: PublishingError.notPublished(folder: published.path)) { try published.prune() }
        #expect(throws: PublishingError.unreadable(path: catalog, reason: "not a file")) {
            try published.catalogText()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: published.path) == ["catalog.jws"])
    }

    @Test func `pruning waits for no other command, and removes nothing while one changes the folder`() throws {
        try publish(at: [0, Self.day])
        let descriptor = open(published.path + "/catalogs/.lock", O_RDWR)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let later = Self.start.addingTimeInterval(40 * Self.day)
        for removing in [true, false] {
            #expect(throws: PublishingError.locked(folder: published.path)) {
                try published.prune(at: later, removing: removing)
            }
        }
        flock(descriptor, LOCK_UN)
        #expect(try published.prune(at: later).removed.count == 2)
        // The lock ends with the command, also after an error.
        try folder.write("x", to: "published/catalog.jws")
        for _ in 0..<2 {
            let error = #expect(throws: PublishingError.self) { try published.prune(at: later) }
            #expect(error != .locked(folder: published.path))
        }
    }
}
