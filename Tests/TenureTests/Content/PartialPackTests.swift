import CommandRunner
import Foundation
import TenureContent
import Testing

@testable import Tenure

/// What a device has stored of a download that isn't complete. The files may be damaged, or be edited.
@Suite struct `A partly downloaded pack` {
    private let folder: Folder
    private let manifest: PackManifest
    private let version: ContentDigest

    /// Begins the download of two files. In the archive, the first file begins at 512, and the second one at 1536.
    init() throws {
        folder = try Folder()
        let digest = ContentDigest(of: Data("contents".utf8))
        let first = PackManifest.File(
            path: "a", offset: PackManifest.offset(after: nil), size: 100, digest: digest, chunks: [digest])
        let second = PackManifest.File(
            path: "b", offset: PackManifest.offset(after: first), size: 50, digest: digest, chunks: [digest])
        manifest = try PackManifest(
            files: [first, second], archive: digest, archiveSize: PackManifest.archiveSize(endingWith: second))
        let published = ContentCatalog.Version(of: manifest, minimumAppVersion: nil)
        version = published.manifest
        let pack = ContentCatalog.Pack(
            name: "piano", unlock: .entitlement("everything"), isPurgeable: false, versions: [published])
        _ = try PartialPack.begin(
            PackDescription(pack, published, from: "web"), manifest, in: folder.path, reusing: ReusableFiles([]))
    }

    private func known() -> PartialPack? { PartialPack(version, manifest, in: folder.path) }

    private func edit(_ pattern: String, _ replacement: String) throws {
        let text = try folder.text("partial/plan.json")
        let range = try #require(text.range(of: pattern, options: .regularExpression))
        try folder.write(text.replacingCharacters(in: range, with: replacement), to: "partial/plan.json")
    }

    @Test func `a download is continued only for its own version`() throws {
        #expect(known()?.missing == [512..<612, 1536..<1586])
        let isOther = PartialPack(ContentDigest(of: Data("other".utf8)), manifest, in: folder.path) != nil
        #expect(!isOther)
    }

    @Test(arguments: ["../../elsewhere", "", "a/b"])
    func `a download isn't continued if its version would be installed in another folder`(name: String) throws {
        try edit("\"folder\":\"[^\"]*\"", "\"folder\":\"\(name)\"")
        #expect(PartialPack.plan(in: folder.path) == nil)
        let isKnown = known() != nil
        #expect(!isKnown)
    }

    @Test(arguments: [("[0,1]", true), ("[2]", false), ("[-1]", false)])
    func `a download isn't continued if it reuses a file that the manifest doesn't have`(files: String, isSound: Bool)
        throws
    {
        try edit("\"reused\":\\[\\]", "\"reused\":\(files)")
        let isKnown = known() != nil
        #expect(isKnown == isSound)
    }

    @Test func `stored chunks with wrong bytes count only if the manifest has them`() throws {
        try folder.write(
            #"[{"file":2,"index":0},{"file":0,"index":1},{"file":0,"index":0},{"file":-1,"index":0}]"#,
            to: "partial/bad.json")
        #expect(known()?.badChunks == [PartialPack.Chunk(file: 0, index: 0)])
    }

    @Test func `wrong bytes count as downloaded for the progress, and are requested again`() throws {
        try folder.write(String(repeating: "x", count: 100), to: "partial/files/a")
        try folder.write(String(repeating: "x", count: 20), to: "partial/files/b")
        try folder.write(#"[{"file":0,"index":0}]"#, to: "partial/bad.json")
        let partial = try #require(known())
        #expect(partial.missing == [512..<612, 1556..<1586])
        #expect(partial.missingBytes == 130)
        #expect(partial.downloadedBytes == 120 && partial.totalBytes == 150)
    }

    @Test func `a file that is longer than in the manifest is removed, and requested again`() throws {
        try folder.write(String(repeating: "x", count: 101), to: "partial/files/a")
        try folder.write(String(repeating: "x", count: 50), to: "partial/files/b")
        #expect(known()?.missing == [512..<612])
        #expect(Disk.names(in: folder.path + "/partial/files") == ["b"])
    }

    @Test func `a discarded download leaves neither its files nor those of a replaced version`() throws {
        try PartialPack.setAside(in: folder.path)
        #expect(Disk.names(in: folder.path) == ["old"])
        try Disk.makeFolder(folder.path + "/partial/files")
        PartialPack.discard(in: folder.path)
        #expect(Disk.names(in: folder.path) == [])
    }
}
