import Foundation
import TenureCore
import Testing

@testable import TenureContent

/// The rules for paths in asset packs, and the digests of their contents.
@Suite struct `Paths and digests of files in asset packs` {
    @Test func `the path of a file in an asset pack says which rule it breaks`() {
        let long = "is too long: the name may have 100 bytes, and its folders 155 (a limit of ustar archives)"
        let (control, separator) = ("has control characters", "has a `\\` or a `:`")
        let (slash, dots) = ("begins or ends with `/`, or has `//`", "has a part `.` or `..`")
        func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
        let cases: [(path: String, mistake: String?)] = [
            ("", "is empty"), ("a\u{1F}b", control), ("a\u{7F}", control), ("a\u{80}", control),
            ("a\u{9F}b", control), ("a\u{A0}b", nil), ("a b", nil), ("a\\b", separator), ("a:b", separator),
            ("/a", slash), ("a/", slash), ("a//b", slash), ("/", slash), (".", dots), ("..", dots), ("./a", dots),
            ("a/..", dots), ("a/./b", dots), ("...", nil), (".a", nil), ("a..b/..c", nil),
            ("e\u{301}", "isn't in Unicode's composed form (NFC)"), ("\u{E9}", nil), (letters(100), nil),
            (letters(101), long), (letters(155) + "/" + letters(100), nil), (letters(156) + "/" + letters(99), long),
            (letters(155) + "/" + letters(101), long), (letters(50) + "/" + letters(101), long),
        ]
        for (path, mistake) in cases { #expect(AssetPath.mistake(in: path) == mistake, "\(path)") }
    }

    @Test func `a long path is divided for tar after the fewest folders`() throws {
        func letters(_ count: Int) -> String { String(repeating: "c", count: count) }
        let cases: [(String, String, String)] = [
            ("a/b/" + letters(96), "", "a/b/" + letters(96)), ("a/" + letters(99), "a", letters(99)),
            ("aa/b/" + letters(98), "aa", "b/" + letters(98)), ("aa/bb/" + letters(98), "aa/bb", letters(98)),
            (letters(155) + "/b", letters(155), "b"),
        ]
        for (path, prefix, name) in cases {
            let fields = try #require(AssetPath.ustarFields(of: path), "\(path)")
            #expect(fields.prefix == prefix && fields.name == name, "\(fields)")
        }
        for path in [letters(156) + "/b", letters(101), letters(155) + "/" + letters(101)] {
            #expect(AssetPath.ustarFields(of: path) == nil, "\(path)")
        }
    }

    @Test func `two paths that can't both exist are named in their order, and a folder by its first file`() {
        let cases: [([String], [String]?)] = [
            (["a", "b", "a.b", "a-b"], nil), (["a/b", "A/c", "a/d"], nil), (["b", "a", "A", "B"], ["a", "A"]),
            (["a", "a/b"], ["a", "a/b"]), (["a/b", "a"], ["a/b", "a"]), (["x/a", "x/b", "X"], ["x/a", "X"]),
            (["x/y/a", "x/Y"], ["x/y/a", "x/Y"]), (["\u{17F}", "S"], ["\u{17F}", "S"]), (["x", "x"], ["x", "x"]),
        ]
        for (paths, expected) in cases {
            #expect(AssetPath.conflict(among: paths).map { [$0.0, $0.1] } == expected, "\(paths)")
        }
    }

    @Test func `a digest is the SHA-256 of all its bytes, and has exactly one text and one list of bytes`() throws {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let digest = ContentDigest(of: Data("abc".utf8))
        #expect(digest.description == text && ContentDigest(text) == digest)
        #expect(digest.bytes.count == 32 && digest.bytes.prefix(2) == [0xBA, 0x78] && digest.bytes.last == 0xAD)
        #expect(ContentDigest(digest.bytes) == digest)
        for wrong in [text.uppercased(), String(text.dropLast()), text + "0", text.replacing("f", with: "g"), ""] {
            #expect(ContentDigest(wrong) == nil, "\(wrong)")
        }
        #expect(ContentDigest(digest.bytes.dropLast()) == nil && ContentDigest(digest.bytes + [0]) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ContentDigest].self, from: Data(#"["ba78"]"#.utf8))
        }
        var hash = ContentHash()
        hash.update(Data("a".utf8))
        // The digest of the bytes so far. More bytes can follow.
        #expect(hash.digest.description == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")
        hash.update(Data("bc".utf8))
        #expect(hash.digest == digest)
    }
}

/// The JSON of manifests and of `content.json`, and the reason that a broken rule gives.
@Suite struct `The JSON of asset packs` {
    private static let digest = ContentDigest(of: Data("contents".utf8))

    private func file(
        _ path: String, at offset: Int64, size: Int64, chunks: Int, digest: ContentDigest = Self.digest
    ) -> PackManifest.File {
        PackManifest.File(
            path: path, offset: offset, size: size, digest: digest,
            chunks: Array(repeating: Self.digest, count: chunks))
    }

    @Test func `a manifest's JSON lists digests of chunks only for files with several chunks`() throws {
        // The first file fills one block after its header. The second file has 9,766 blocks.
        let files = [file("a", at: 512, size: 1, chunks: 1), file("b/c", at: 1536, size: 5_000_000, chunks: 2)]
        let manifest = try PackManifest(files: files, archive: Self.digest, archiveSize: 5_002_752)
        let digest = Self.digest.description
        let json = """
            {"format":1,"archive":{"sha256":"\(digest)","size":5002752},"files":[{"path":"a","offset":512,"size":1,\
            "sha256":"\(digest)"},{"path":"b/c","offset":1536,"size":5000000,"sha256":"\(digest)",\
            "chunks":["\(digest)","\(digest)"]}]}
            """
        #expect(String(decoding: manifest.json, as: UTF8.self) == json)
        #expect(manifest.installedSize == 5_000_001)
        let version = ContentCatalog.Version(of: manifest, minimumAppVersion: AppVersion("3.2"))
        #expect(version.manifest == ContentDigest(of: Data(json.utf8)) && version.manifestSize == json.utf8.count)
        #expect(version.archive == Self.digest && version.archiveSize == 5_002_752)
        #expect(version.installedSize == 5_000_001 && version.minimumAppVersion?.description == "3.2")
        let extended = json.replacing(#"{"format":1,"#, with: #"{"format":1,"color":"red","#)
        #expect(try PackManifest(json: Data(extended.utf8)) == manifest)
    }

    @Test func `each chunk of a file is 4 MiB, except the last`() {
        let file = file("a", at: 512, size: 9_000_000, chunks: 3)
        #expect(
            (0..<3).map { file.range(ofChunk: $0) } == [0..<4_194_304, 4_194_304..<8_388_608, 8_388_608..<9_000_000])
    }

    @Test func `a manifest says which rule it breaks`() throws {
        let other = ContentDigest(of: Data("other".utf8))
        let largest: Int64 = (8 << 30) - 1
        var large: [PackManifest.File] = []
        for number in 0..<8 {
            large.append(file("\(number)", at: PackManifest.offset(after: large.last), size: largest, chunks: 2048))
        }
        let chunks = "has `chunks` that don't match its `size` or its `sha256`"
        let cases: [([PackManifest.File], Int64, String)] = [
            (
                [file("a", at: 512, size: 0, chunks: 0)], 1535,
                "the size of the archive doesn't match the sizes of its files"
            ),
            (
                [file("a", at: 512, size: 0, chunks: 0), file("b", at: 1023, size: 0, chunks: 0)], 2048,
                "`b` has the wrong `offset`; it must follow the file before it in the archive"
            ),
            ([file("a", at: 512, size: 0, chunks: 1)], 1536, "`a` \(chunks)"),
            ([file("a", at: 512, size: 4_194_304, chunks: 2)], 4_195_840, "`a` \(chunks)"),
            ([file("a", at: 512, size: 1, chunks: 1, digest: other)], 2048, "`a` \(chunks)"),
            (
                [file("a", at: 512, size: -1, chunks: 0)], 1536,
                "`a` has a `size` of -1; a file has 0 to 8589934591 bytes"
            ),
            ([file("a\u{7}", at: 512, size: 0, chunks: 0)], 1536, "the path `a\\u{7}` has control characters"),
            (
                [file("a", at: 512, size: 0, chunks: 0), file("A", at: 1024, size: 0, chunks: 0)], 2048,
                "`a` and `A` can't both exist on every file system"
            ),
            (large, 0, "its files have more than 64 GB"),
        ]
        for (files, size, reason) in cases {
            #expect(throws: ContentError.invalidManifest(reason)) {
                try PackManifest(files: files, archive: Self.digest, archiveSize: size)
            }
        }
        let many = Array(repeating: file("a", at: 512, size: 0, chunks: 0), count: 10_001)
        #expect(throws: ContentError.invalidManifest("it has 10001 files; a pack has at most 10000")) {
            try PackManifest(files: many, archive: Self.digest, archiveSize: 0)
        }
        for (json, reason) in [
            ("{}", "it can't be read"),
            (
                #"{"format":2,"archive":{"sha256":"\#(Self.digest)","size":1024},"files":[]}"#,
                "its format is 2, but this version of Tenure reads only format 1"
            ),
        ] {
            #expect(throws: ContentError.invalidManifest(reason)) { try PackManifest(json: Data(json.utf8)) }
        }
    }

    @Test func `content.json has all fields of a pack, and the packs in the order of their names`() throws {
        typealias Pack = EmbeddedContent.Pack
        let packs = [
            Pack(
                name: "piano", unlock: .entitlement("keys"), isPurgeable: false, minimumAppVersion: nil,
                version: Self.digest, files: []),
            Pack(
                name: "bass", unlock: .product("com.example.bass"), isPurgeable: true,
                minimumAppVersion: AppVersion("3.2"), version: Self.digest,
                files: [.init(path: "b", size: 3), .init(path: "a", size: 4)]),
        ]
        let content = try EmbeddedContent(packs: packs)
        let json = """
            {"format":1,"packs":[{"name":"bass","product":"com.example.bass","storage":"purgeable",\
            "minimumAppVersion":"3.2","version":"\(Self.digest)","installedSize":7,\
            "files":[{"path":"b","size":3},{"path":"a","size":4}]},\
            {"name":"piano","entitlement":"keys","version":"\(Self.digest)","installedSize":0,"files":[]}]}
            """
        #expect(String(decoding: content.json, as: UTF8.self) == json)
        let read = try EmbeddedContent(json: Data(json.utf8))
        #expect(read == content && read["bass"]?.isPurgeable == true && read["piano"]?.isPurgeable == false)
        #expect(read["piano"]?.unlock == .entitlement("keys") && read["pian"] == nil)
    }

    @Test func `content.json says which rule it breaks`() throws {
        func pack(_ name: String = "piano", _ more: String = #""product":"p""#, files: String = "") -> String {
            #"{"name":"\#(name)",\#(more),"version":"\#(Self.digest)","files":[\#(files)]}"#
        }
        func file(_ path: String, _ size: Int64) -> String { #"{"path":"\#(path)","size":\#(size)}"# }
        let largest: Int64 = (8 << 30) - 1
        let rest = 64_000_000_000 - 7 * largest
        let large = (0..<7).map { file("\($0)", largest) }.joined(separator: ",") + ","
        let cases: [(String, String)] = [
            ("[]", "it can't be read"), (pack(#"pi\u0007"#), "`pi\\u{7}` isn't a valid name of a pack"),
            (pack() + "," + pack(), "it has two packs named `piano`"),
            (pack("piano", #""storage":"purgeable""#), "`piano` must have either `entitlement` or `product`"),
            (
                pack("piano", #""product":"p","minimumAppVersion":"new""#),
                "`piano` has a `minimumAppVersion` that isn't a dotted number"
            ),
            (
                pack("piano", #""product":"p","storage":"kept""#),
                "`piano` has an unknown value of `storage`; write `purgeable` or remove it"
            ),
            (pack(files: file("../a", 1)), "the path `../a` has a part `.` or `..`"),
            (pack(files: file("a", largest + 1)), "`a` has a `size` of 8589934592; a file has 0 to 8589934591 bytes"),
            (pack(files: file("b", 1) + "," + file("B", 1)), "`b` and `B` can't both exist on every file system"),
            (pack(files: large + file("rest", rest + 1)), "`piano` has more than 64 GB"),
            (
                pack(files: (0...10_000).map { file("\($0)", 0) }.joined(separator: ",")),
                "`piano` has more than 10000 files"
            ),
            (
                (0...100).map { pack("p\($0)") }.joined(separator: ","),
                "it has 101 packs; an app has at most 100"
            ),
        ]
        for (packs, reason) in cases {
            #expect(throws: ContentError.invalidEmbeddedContent(reason)) {
                try EmbeddedContent(json: Data(#"{"format":1,"packs":[\#(packs)]}"#.utf8))
            }
        }
        let format = "its format is 2, but this version of Tenure reads only format 1"
        #expect(throws: ContentError.invalidEmbeddedContent(format)) {
            try EmbeddedContent(json: Data(#"{"format":2,"packs":[]}"#.utf8))
        }
        let full = try EmbeddedContent(
            json: Data("{\"format\":1,\"packs\":[\(pack(files: large + file("rest", rest)))]}".utf8))
        #expect(full["piano"]?.installedSize == 64_000_000_000)
    }
}
