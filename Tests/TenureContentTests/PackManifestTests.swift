import Foundation
import Testing

@testable import TenureContent

/// A manifest of files with these sizes and no meaningful contents.
private func manifest(_ files: [(path: String, size: Int64)]) throws -> PackManifest {
    var entries: [PackManifest.File] = []
    let digest = ContentDigest(of: Data("contents".utf8))
    for (path, size) in files {
        let chunks = Int((size + PackManifest.chunkSize - 1) / PackManifest.chunkSize)
        entries.append(
            PackManifest.File(
                path: path, offset: PackManifest.offset(after: entries.last), size: size, digest: digest,
                chunks: Array(repeating: digest, count: chunks)))
    }
    return try PackManifest(
        files: entries, archive: digest, archiveSize: PackManifest.archiveSize(endingWith: entries.last))
}

@Suite struct `A manifest` {
    @Test func `a pack manifest is read from its JSON unchanged, with files of zero, one and several chunks`() throws {
        let sizes: [Int64] = [0, 1, 512, 513, 4 << 20, (4 << 20) + 1, 9_000_000]
        let original = try manifest(sizes.enumerated().map { ("folder/file-\($0)", $1) })
        let read = try PackManifest(json: original.json)
        #expect(read == original)
        #expect(read.json == original.json)
        #expect(read.files.map(\.chunks.count) == [0, 1, 1, 1, 1, 2, 3])
    }

    @Test func `a pack manifest gives each file its offset in the tar archive`() throws {
        let files = try manifest([("a", 0), ("b", 1), ("c", 512), ("d", 513)]).files
        #expect(files.map(\.offset) == [512, 1024, 2048, 3072])
        #expect(PackManifest.archiveSize(endingWith: files.last) == 3072 + 1024 + 1024)
    }

    @Test(arguments: [
        "", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/./b", "a\\b", "c:a", "a\u{0}b", "a\nb", "a\u{7F}",
        "e\u{301}", String(repeating: "a", count: 101), "a/" + String(repeating: "b", count: 101),
        String(repeating: "a", count: 156) + "/b",
    ])
    func `a pack manifest rejects a path that could leave the folder or doesn't fit into tar`(path: String) {
        #expect(throws: ContentError.self) { try manifest([(path, 1)]) }
    }

    @Test(arguments: [
        ("a", "A"), ("é", "É"), ("straße", "STRASSE"), ("a", "a/b"), ("A", "a/b"), ("a/B/c", "a/b"), ("x", "x"),
    ])
    func `a pack manifest rejects two paths that can't exist together on some file systems`(
        first: String, second: String
    ) {
        #expect(throws: ContentError.self) { try manifest([(first, 1), (second, 1)]) }
        #expect(throws: ContentError.self) { try manifest([(second, 1), (first, 1)]) }
    }

    @Test func `a pack manifest accepts a long path that fits into the two path fields of a tar header`() throws {
        let path = String(repeating: "a", count: 155) + "/" + String(repeating: "b", count: 100)
        let fields = try #require(AssetPath.ustarFields(of: path))
        #expect(fields.prefix + "/" + fields.name == path)
        _ = try manifest([(path, 1), ("Samples/C4 – soft.wav", 3)])
    }

    @Test func `a pack manifest rejects offsets, sizes and chunks that don't fit together`() throws {
        let sound = try manifest([("a", 5_000_000), ("b", 1)])
        let text = String(decoding: sound.json, as: UTF8.self)
        func isRejected(_ old: String, _ new: String) -> Bool {
            let changed = text.replacingOccurrences(of: old, with: new)
            #expect(changed != text, "\(old) is in the manifest")
            return (try? PackManifest(json: Data(changed.utf8))) == nil
        }
        #expect(isRejected("\"offset\":512", "\"offset\":0"))
        #expect(isRejected("\"size\":5000000", "\"size\":9000000"))
        #expect(isRejected("\"size\":5000000", "\"size\":-1"))
        #expect(isRejected("\"size\":5000000", "\"size\":99999999999999999999"))
        #expect(isRejected("\"chunks\":[", "\"chunks\":[\"\(sound.archive)\","))
        #expect(isRejected("\"format\":1", "\"format\":2"))
        #expect(isRejected("\"size\":\(sound.archiveSize)", "\"size\":\(sound.archiveSize + 1)"))
        #expect(isRejected("\(sound.archive)", "\(sound.archive)".uppercased()))
        #expect(isRejected("\(sound.archive)", "\(sound.archive)0"))
        #expect(isRejected("\(sound.archive)", String("\(sound.archive)".dropLast())))
    }

    @Test func `a pack manifest rejects a file of one chunk if the file's digest differs from the chunk's digest`()
        throws
    {
        let (file, chunk) = (ContentDigest(of: Data("file".utf8)), ContentDigest(of: Data("chunk".utf8)))
        func manifest(_ digest: ContentDigest) throws {
            let entry = PackManifest.File(path: "a", offset: 512, size: 5, digest: digest, chunks: [chunk])
            _ = try PackManifest(
                files: [entry], archive: file, archiveSize: PackManifest.archiveSize(endingWith: entry))
        }
        try manifest(chunk)
        #expect(throws: ContentError.self) { try manifest(file) }
    }

    @Test func `a pack manifest's JSON has at most as many bytes as a catalog can state`() throws {
        let json = try manifest([("a", 1)]).json
        let padded = json + Data(repeating: 0x20, count: PackManifest.maximumTextSize - json.count)
        #expect(try PackManifest(json: padded).files.map(\.path) == ["a"])
        let size = PackManifest.maximumTextSize + 1
        let message = "it has \(size) bytes; a manifest has at most \(size - 1)"
        #expect(throws: ContentError.invalidManifest(message)) { try PackManifest(json: padded + Data([0x20])) }
    }

    @Test func `a pack manifest rejects more than 10,000 files`() throws {
        _ = try manifest((0..<10_000).map { ("file-\($0)", 0) })
        #expect(throws: ContentError.self) { try manifest((0...10_000).map { ("file-\($0)", 0) }) }
    }

    @Test func `a pack manifest rejects a file of 8 GiB, and a pack of more than 64 GB`() throws {
        let largest: Int64 = (8 << 30) - 1
        _ = try manifest([("a", largest)])
        #expect(throws: ContentError.self) { try manifest([("a", largest + 1)]) }
        let largeFiles = (0..<7).map { ("\($0)", largest) }
        let rest = 64_000_000_000 - 7 * largest
        _ = try manifest(largeFiles + [("rest", rest)])
        #expect(throws: ContentError.self) { try manifest(largeFiles + [("rest", rest), ("more", 1)]) }
    }
}
