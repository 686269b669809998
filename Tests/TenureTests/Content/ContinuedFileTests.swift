import CommandRunner
import Foundation
import TenureContent
import Testing

@testable import Tenure

/// A new version of a pack replaces a version that was only partly downloaded, and takes its files.
@Suite struct `Files of a version that a newer version replaces` {
    /// The only file of the pack, in the archive from 512 to 612.
    private static let contents = ContentTestBed.bytes(100, seed: 1)

    // The bytes on the disk are zeros, so a file of 100 bytes is damaged.
    @Test(
        arguments: [
            (40, false, [552..<612]), (100, false, []), (101, false, [512..<612]), (40, true, [512..<612]),
            (100, true, [512..<612]),
        ] as [(Int, Bool, [Range<Int64>])])
    func `the downloaded part of a file is continued unless it is too long or an installed version shares it`(
        size: Int, isShared: Bool, missing: [Range<Int64>]
    ) throws {
        let folder = try Folder()
        let digest = ContentDigest(of: Self.contents)
        let file = PackManifest.File(
            path: "song.wav", offset: PackManifest.offset(after: nil), size: 100, digest: digest, chunks: [digest])
        let manifest = try PackManifest(
            files: [file], archive: digest, archiveSize: PackManifest.archiveSize(endingWith: file))
        let version = ContentCatalog.Version(of: manifest, minimumAppVersion: nil)
        let pack = ContentCatalog.Pack(
            name: "piano", unlock: .entitlement("everything"), isPurgeable: false, versions: [version])
        let description = PackDescription(pack, version, from: "source")
        let old = InstalledPack(
            version: version.manifest, manifest: manifest, path: folder.path + "/old/files", folder: "old",
            description: description, embedded: nil)
        try FileManager.default.createDirectory(atPath: old.path, withIntermediateDirectories: true)
        try Data(count: size).write(to: folder.url("old/files/song.wav"))
        if isShared {
            try FileManager.default.linkItem(at: folder.url("old/files/song.wav"), to: folder.url("installed.wav"))
        }
        let begun = try PartialPack.begin(
            description, manifest, in: folder.path, reusing: ReusableFiles([], setAside: old))
        #expect(begun.missing == missing)
        #expect(begun.plan.reused == [])
        if isShared { #expect(try Data(contentsOf: folder.url("installed.wav")) == Data(count: size)) }
    }
}
