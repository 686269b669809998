import CommandRunner
import Foundation
import TenureContent
import Testing

@testable import Tenure

@Suite struct `The next range of a download` {
    private static let mebibyte: Int64 = 1 << 20

    /// A download of files with these sizes. The files in `complete` are on the disk already.
    private func writer(_ sizes: [Int64], complete: Set<Int> = [], in folder: Folder) throws -> PackWriter {
        let digest = ContentDigest(of: Data("contents".utf8))
        var files: [PackManifest.File] = []
        for (index, size) in sizes.enumerated() {
            let chunks = Int((size + PackManifest.chunkSize - 1) / PackManifest.chunkSize)
            files.append(
                PackManifest.File(
                    path: "file-\(index)", offset: PackManifest.offset(after: files.last), size: size, digest: digest,
                    chunks: Array(repeating: digest, count: chunks)))
        }
        let manifest = try PackManifest(
            files: files, archive: digest, archiveSize: PackManifest.archiveSize(endingWith: files.last))
        let version = ContentCatalog.Version(of: manifest, minimumAppVersion: nil)
        let pack = ContentCatalog.Pack(
            name: "piano", unlock: .entitlement("everything"), isPurgeable: false, versions: [version])
        let begun = try PartialPack.begin(
            PackDescription(pack, version, from: "source"), manifest, in: folder.path, reusing: ReusableFiles([]))
        for index in complete {
            try Data(count: Int(sizes[index])).write(to: URL(fileURLWithPath: begun.path(of: index)))
        }
        let known = try #require(PartialPack(version.manifest, manifest, in: folder.path))
        return PackWriter(known, confirm: {})
    }

    // The first file begins at 512. The third file begins at 66,560, after the header of 512 bytes.
    @Test(arguments: [(512, 64_512, 512..<1024), (513, 64_000, 512..<66_570)] as [(Int64, Int64, Range<Int64>)])
    func `missing parts with fewer than 64 KiB between them are requested as one range`(
        first: Int64, second: Int64, range: Range<Int64>
    ) throws {
        let writer = try writer([first, second, 10], complete: [1], in: try Folder())
        #expect(writer.partialPack.gaps.map(\.archiveRange) == [512..<512 + first, 66_560..<66_570])
        #expect(writer.nextRange() == range)
    }

    @Test func `a range has at most 32 MiB`() throws {
        for (size, end) in [
            (32 * Self.mebibyte, 512 + 32 * Self.mebibyte), (32 * Self.mebibyte + 1, 512 + 32 * Self.mebibyte),
            (32 * Self.mebibyte - 1, 512 + 32 * Self.mebibyte - 1),
        ] {
            #expect(try writer([size], in: try Folder()).nextRange() == 512..<end, "\(size) bytes")
        }
    }

    @Test func `a part isn't requested if the system downloads its beginning, or bytes between it and the part before`()
        throws
    {
        let writer = try writer([513, 64_000, 10], complete: [1], in: try Folder())
        #expect(writer.nextRange(except: [512..<600]) == 66_560..<66_570)
        #expect(writer.nextRange(except: [600..<700]) == 512..<600)
        #expect(writer.nextRange(except: [1025..<1026]) == 512..<1025)
        #expect(writer.nextRange(except: [66_570..<66_600]) == 512..<66_570)
        #expect(writer.nextRange(except: [0..<100_000]) == nil)
    }

    @Test func `only whole ranges within the archive count as delivered by the system`() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/ranges", withIntermediateDirectories: true)
        for (name, size) in [
            ("90-100", 10), ("0-10", 10), ("10-20", 9), ("20-30", 11), ("91-101", 10), ("5-5", 0), ("40", 40),
            ("50-60-70", 10), ("a-10", 10),
        ] {
            try Data(count: size).write(to: folder.url("ranges/" + name))
        }
        #expect(ArrivedRange.all(in: folder.path, of: 100).map(\.range) == [0..<10, 90..<100])
    }

    @Test func `the parts of a range outside of other ranges are found in any order of these`() {
        let range: Range<Int64> = 0..<10
        #expect(range.subtracting([]) == [0..<10])
        #expect(range.subtracting([8..<12, 3..<5, 0..<1]) == [1..<3, 5..<8])
        #expect(range.subtracting([2..<6, 4..<5]) == [0..<2, 6..<10])
        #expect(range.subtracting([10..<20, -5..<0]) == [0..<10])
        #expect(range.subtracting([0..<10]) == [])
    }

    @Test func `ranges for the system are joined with fewer than 64 KiB between them, and doubled above the limit`() {
        #expect(BackgroundRanges.ranges(for: [[0..<10, 65_545..<65_550]], limit: 64) == [[0..<65_550]])
        #expect(BackgroundRanges.ranges(for: [[0..<10, 65_546..<65_550]], limit: 64) == [[0..<10, 65_546..<65_550]])
        let size = 32 * Self.mebibyte
        #expect(
            BackgroundRanges.ranges(for: [[0..<3 * size]], limit: 3)
                == [[0..<size, size..<2 * size, 2 * size..<3 * size]])
        #expect(BackgroundRanges.ranges(for: [[0..<3 * size]], limit: 2) == [[0..<2 * size, 2 * size..<3 * size]])
        #expect(
            BackgroundRanges.ranges(for: [[0..<10], [0..<10]], limit: 1) == [[0..<10], []],
            "the packs share the limit")
    }
}
