import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import Testing

/// The folder for an app's bundle: what it has, and what an embedding replaces and removes.
@Suite struct `A folder of embedded packs` {
    private let folder: Folder
    private var out: String { folder.url("embedded").path }

    init() throws {
        folder = try Folder()
        for (name, file) in [("piano/sub", "c.txt"), ("loops", "beat.caf")] {
            try FileManager.default.createDirectory(at: folder.url(name), withIntermediateDirectories: true)
            try folder.write(file, to: "\(name)/\(file)")
        }
    }

    private func sources() throws -> [PackSource] {
        [
            try PackSource(name: "piano", unlock: .entitlement("everything"), folder: folder.url("piano").path),
            try PackSource(
                name: "loops", unlock: .product("com.example.loops"), isPurgeable: true,
                minimumAppVersion: AppVersion("3.2"), folder: folder.url("loops").path),
        ]
    }

    private func embed(_ sources: [PackSource]? = nil) throws -> EmbeddedContent {
        try ContentEmbedder(folder: out).embed(try sources ?? self.sources())
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    @Test func `content.json describes the packs that were embedded, and progress counts the bytes of their files`()
        throws
    {
        var bytes = 0
        let content = try ContentEmbedder(folder: out).embed(try sources()) { bytes += $0 }
        #expect(bytes == 13)
        #expect(content.packs.map(\.name) == ["loops", "piano"])
        #expect(content["piano"]?.unlock == .entitlement("everything"))
        #expect(content["piano"]?.files.map(\.path) == ["sub/c.txt"] && content["piano"]?.minimumAppVersion == nil)
        #expect(content["loops"]?.unlock == .product("com.example.loops") && content["loops"]?.installedSize == 8)
        #expect(content["loops"]?.minimumAppVersion?.description == "3.2")
        let json = try folder.text("embedded/content.json")
        #expect(Data(json.utf8) == content.json)
        #expect(json.components(separatedBy: #""storage":"purgeable""#).count == 2)
        #expect(try folder.text("embedded/piano/sub/c.txt") == "c.txt")
        #expect(try folder.text("embedded/loops/beat.caf") == "beat.caf")
        #expect(try names() == ["piano", "loops", "embedded"])
    }

    @Test func `embedding removes the temporary folders of killed runs, and no other folder`() throws {
        _ = try embed()
        let others: Set<String> = [".other.unfinished-7", ".embedded.unfinishe", "embedded.unfinished-7"]
        for name in others.union([".embedded.unfinished-7", ".embedded.unfinished-9-old"]) {
            try FileManager.default.createDirectory(at: folder.url(name + "/sub"), withIntermediateDirectories: true)
            try folder.write("x", to: name + "/sub/x")
        }
        _ = try embed()
        #expect(try names() == others.union(["piano", "loops", "embedded"]))
        #expect(try folder.text("embedded/piano/sub/c.txt") == "c.txt")
    }

    @Test func `a failed embedding keeps the earlier folder, and leaves no temporary folder`() throws {
        _ = try embed()
        let sources = try sources()
        try folder.write("changed since", to: "loops/beat.caf")
        #expect(throws: PublishingError.changed(path: folder.url("loops").path + "/beat.caf")) {
            try embed(sources)
        }
        #expect(try names() == ["piano", "loops", "embedded"])
        #expect(try folder.text("embedded/loops/beat.caf") == "beat.caf")
        #expect(try embed()["loops"]?.installedSize == 13)
        // A pack that is left out disappears.
        _ = try embed([try self.sources()[0]])
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: out)) == ["piano", "content.json"])
        let inside = folder.url("loops").path
        #expect(throws: PublishingError.outputInPack(folder: inside + "/out", pack: inside)) {
            try ContentEmbedder(folder: inside + "/out").embed(try self.sources())
        }
        #expect(!FileManager.default.fileExists(atPath: inside + "/out"))
    }

    @Test func `embedding doesn't remove the temporary folder of a run that is still active`() throws {
        let active = folder.url(".embedded.unfinished-7").path
        try FileManager.default.createDirectory(atPath: active, withIntermediateDirectories: false)
        let descriptor = open(active, O_RDONLY)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        #expect(throws: PublishingError.locked(folder: out)) { try embed() }
        #expect(try names() == ["piano", "loops", ".embedded.unfinished-7"])
        flock(descriptor, LOCK_UN)
        _ = try embed()
        #expect(try names() == ["piano", "loops", "embedded"])
    }

    @Test(arguments: [
        (["notes.txt": "mine"], "notes.txt"), (["content.json": "{}"], "content.json"),
        (["content.json": #"{"format":1,"packs":[]}"#, "piano": "a file"], "piano"),
        ([".DS_Store": "", "._x": "", ".hidden": ""], ".hidden"),
    ])
    func `embedding refuses a folder with files that it didn't write, and names the first`(
        files: [String: String], name: String
    ) throws {
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
        for (name, text) in files { try folder.write(text, to: "embedded/" + name) }
        #expect(throws: PublishingError.foreignFiles(folder: out, name: name)) { try embed() }
        for (name, text) in files { #expect(try folder.text("embedded/" + name) == text, "\(name)") }
        #expect(try names() == ["piano", "loops", "embedded"])
    }

    @Test func `embedding replaces an empty folder, and refuses a new folder or file below its own folders`() throws {
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
        try folder.write("", to: "embedded/.DS_Store")
        _ = try embed()
        #expect(!FileManager.default.fileExists(atPath: out + "/.DS_Store"))
        // A file that is missing is no obstacle.
        try FileManager.default.removeItem(atPath: out + "/loops/beat.caf")
        _ = try embed()
        for name in ["piano/sub/new", "other", "piano/sub/d.txt"] {
            try FileManager.default.createDirectory(atPath: "\(out)/\(name)", withIntermediateDirectories: false)
            #expect(throws: PublishingError.foreignFiles(folder: out, name: name)) { try embed() }
            try FileManager.default.removeItem(atPath: "\(out)/\(name)")
        }
        #expect(throws: Never.self) { try embed() }
    }
}

/// The messages of errors in publishing.
@Suite struct `Messages about publishing` {
    @Test func `each error of a publication names the file or folder, and what to do`() {
        let invalid = ContentError.invalidCatalog("it can't be read")
        let damaged = """
            (the content catalog is invalid: it can't be read; publish it again with `tenure content publish`), so no \
            file was removed; restore the file from a backup. Without a backup,
            """
        let signature = "none of the pinned keys signed the content catalog; sign it with the key that the app pins"
        let keyOrReplacement =
            "pass the public key that signed this catalog as `--previous-key`, or replace the catalog with `--replace`"
        let cases: [(PublishingError, String)] = [
            (.rejectedFiles(["`a` is a link", "`b` is a link"]), "`a` is a link\n`b` is a link"),
            (
                .unreadable(path: "p\u{7}", reason: "permission denied"),
                "can't read `p\\u{7}` (permission denied); check the path and its permissions"
            ),
            (.changed(path: "p"), "`p` changed while it was read; publish again when nothing writes to it"),
            (
                .unwritable(path: "p", reason: "not a folder"),
                "can't write `p` (not a folder); check the folder and its permissions"
            ),
            (.diskFull(path: "p"), "the disk is full: can't write `p`; free space, then run the command again"),
            (
                .locked(folder: "out"),
                "another `tenure content` command is using `out`; wait until that command has ended"
            ),
            (.notPublished(folder: "out"), "`out` has no `catalog.jws`; publish to it with `tenure content publish`"),
            (
                .foreignCatalog(path: "out/catalog.jws", .wrongSignature),
                "the existing catalog `out/catalog.jws` can't be used (\(signature)); \(keyOrReplacement), which removes all its versions"
            ),
            (
                .damagedCatalog(path: "out/catalog.jws", invalid),
                "the catalog `out/catalog.jws` can't be read \(damaged) publish all packs again with `tenure content publish --replace`"
            ),
            (
                .damagedCatalog(path: "out/catalogs/7.jws", invalid),
                "the catalog `out/catalogs/7.jws` can't be read \(damaged) delete it; `tenure content prune` then also removes files that only this catalog names"
            ),
            (
                .counterTooLow(counter: 6, previous: 8),
                "the counter 6 isn't higher than 8, the counter of the catalog in the folder; write `--counter 9`"
            ),
            (
                .outputInPack(folder: "p/out", pack: "p"),
                "`p/out` is inside `p`, so it would be published with the pack; write to another folder"
            ),
            (.invalidContent(.sameCounter(7)), ContentError.sameCounter(7).description),
            (
                .foreignFiles(folder: "out", name: "a/b"),
                "`out` has `a/b`, which `tenure content embed` didn't write; move it away, or name an empty or new folder"
            ),
        ]
        for (error, message) in cases { #expect(error.description == message) }
    }
}
