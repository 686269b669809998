import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenurePolicyFile
import Testing

@Suite struct `A published folder` {
    @Test func `the digest of a published archive is the archive's file name, and tar unpacks the archive`() throws {
        let folder = try Folder()
        let contents: [(path: String, bytes: Data)] = [
            ("empty", Data()), ("notes/é.txt", Data("notes".utf8)),
            ("samples/c4.wav", Data((0..<9_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })),
        ]
        for (path, bytes) in contents {
            let url = folder.url("piano/" + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try bytes.write(to: url)
        }
        let key = P256.Signing.PrivateKey()
        let out = folder.url("out")
        let publication = try ContentPublisher(folder: out.path, key: key).publish(
            bundleID: "com.example.calculator",
            packs: [
                try PackSource(name: "grand-piano", unlock: .entitlement("piano"), folder: folder.url("piano").path)
            ], counter: 7)

        let text = try Data(contentsOf: out.appendingPathComponent("catalog.jws"))
        let catalog = try SignedCatalog.verify(
            text, keys: [PinnedKey(key.publicKey)], bundleID: "com.example.calculator")
        #expect(catalog.counter == 7)
        #expect(try Data(contentsOf: out.appendingPathComponent("catalogs/7.jws")) == text)
        let version = try #require(catalog.catalog["grand-piano"]?.version(for: nil))
        let json = try Data(contentsOf: out.appendingPathComponent(version.manifest.description))
        #expect(ContentDigest(of: json) == version.manifest)
        let manifest = try PackManifest(json: json)
        #expect(manifest == publication.packs[0].manifest)
        let archive = out.appendingPathComponent(version.archive.description)
        let bytes = try Data(contentsOf: archive)
        #expect(ContentDigest(of: bytes) == version.archive && bytes.count == version.archiveSize)
        #expect(manifest.files.map(\.path) == contents.map(\.path))
        for (file, expected) in zip(manifest.files, contents) {
            #expect(bytes[Int(file.offset)..<Int(file.offset + file.size)] == expected.bytes, "\(file.path)")
            #expect(ContentDigest(of: expected.bytes) == file.digest)
            for (index, chunk) in file.chunks.enumerated() {
                let range = file.range(ofChunk: index)
                #expect(ContentDigest(of: expected.bytes[Int(range.lowerBound)..<Int(range.upperBound)]) == chunk)
            }
        }

        let listed = try Tool.run("/usr/bin/env", ["tar", "-tf", archive.path])
        #expect(listed.output.split(separator: "\n").count == 3, "\(listed.errors)")
        let modes = try Tool.run("/usr/bin/env", ["tar", "-tvf", archive.path]).output.split(separator: "\n")
        #expect(modes.allSatisfy { $0.hasPrefix("-rw-r--r-- ") }, "everyone can read what is unpacked: \(modes)")
        try FileManager.default.createDirectory(at: folder.url("unpacked"), withIntermediateDirectories: true)
        let unpacked = try Tool.run("/usr/bin/env", ["tar", "-xf", archive.path, "-C", folder.url("unpacked").path])
        #expect(unpacked.status == 0 && unpacked.errors.isEmpty)
        for (path, bytes) in contents {
            #expect(try Data(contentsOf: folder.url("unpacked/" + path)) == bytes)
        }
    }
}
