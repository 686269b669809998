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
}
