import CommandRunner
import Foundation
import TenureContent
import Testing

@testable import Tenure

@Suite struct `Asset packs on the disk` {
    private let folder: Folder
    private let store: PackStore

    init() throws {
        folder = try Folder()
        store = PackStore(location: ContentLocation(in: folder.url("device")))
    }

    private func write(_ text: String, to path: String) throws {
        let file = folder.url("device/" + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    @Test func `each pack has its own files, and removing a pack leaves the other packs`() throws {
        try write("abc", to: "content/packs/piano/a")
        try write("12345", to: "caches/content/packs/piano/sub/b")
        try write("1234567", to: "content/packs/drums/c")
        try write("1", to: "content/packs/Not a name/d")
        #expect(store.names == ["drums", "piano"])
        #expect(store.bytesOnDisk(of: "piano") == 8 && store.bytesOnDisk(of: "drums") == 7)
        store.remove("piano")
        #expect(store.names == ["drums"])
        #expect(store.bytesOnDisk(of: "piano") == 0 && store.bytesOnDisk(of: "drums") == 7)
    }

    @Test func `a pack stays in the folder in which it is installed or partly downloaded`() throws {
        let (durable, purgeable) = ("/device/content/packs/piano", "/device/caches/content/packs/piano")
        #expect(store.folder(of: "piano").hasSuffix(durable))
        #expect(store.folder(of: "piano", isPurgeable: true).hasSuffix(purgeable))
        try write("", to: "caches/content/packs/piano/partial/plan.json")
        #expect(store.folder(of: "piano").hasSuffix(purgeable))
        #expect(store.folder(of: "drums").hasSuffix("/device/content/packs/drums"))
        try write("", to: "content/packs/piano/installed.json")
        #expect(store.folder(of: "piano", isPurgeable: true).hasSuffix(durable))
    }

    @Test func `files of versions that nothing uses are removed, with what an earlier process had set aside`() throws {
        for root in ["content", "caches/content"] {
            for path in ["removed-1/a", "versions/0123/a", String(repeating: "0", count: 64) + ".json", "users/x"] {
                try write("abc", to: "\(root)/packs/piano/\(path)")
            }
        }
        try write("abc", to: "content/packs/drums/versions/0123/a")
        store.removeOldVersions(of: "piano")
        for root in ["content", "caches/content"] {
            let pack = folder.path + "/device/\(root)/packs/piano"
            #expect(Disk.names(in: pack).sorted() == ["users", "versions"])
            #expect(Disk.names(in: pack + "/versions") == [])
        }
        #expect(store.bytesOnDisk(of: "drums") == 3, "another pack")
    }

    @Test(
        arguments: [
            ("0123456789abcdef-7", true), ("-", true), (String(repeating: "a", count: 63), true),
            (String(repeating: "a", count: 64), false), ("", false), ("..", false), ("a/b", false), ("g", false),
        ])
    func `only hexadecimal digits and hyphens can name the folder of a version`(name: String, isName: Bool) {
        #expect(PackStore.isFolderName(name) == isName)
    }

    @Test func `asset packs are stored in the folder of the options, or else in that of the access group`() {
        var options = Tenure.Options()
        options.accessGroup = "group.com.example.app"
        let host = HostProcess(.app, bundleID: "com.example.app")
        #if os(Linux)
            let shared = ContentLocation(options, host: host)
            let group = "/tenure/groups/group.com.example.app/"
            #expect(shared.durableFolder.path.hasSuffix(group + "content"))
            #expect(shared.purgeableFolder.path.hasSuffix(group + "caches/content"))
        #endif
        options.folder = URL(fileURLWithPath: "/state")
        let own = ContentLocation(options, host: host)
        #expect(own.folders.map(\.path) == ["/state/content", "/state/caches/content"])
        let one = URL(fileURLWithPath: "/one")
        #expect(ContentLocation(durable: one, purgeable: one).folders == [one])
    }

    @Test(arguments: [ContentCatalog.Unlock.entitlement("everything"), .product("com.example.loops")], [false, true])
    func `the stored description of a pack has everything that its catalog said`(
        unlock: ContentCatalog.Unlock, isPurgeable: Bool
    ) throws {
        let version = ContentCatalog.Version(
            minimumAppVersion: nil, manifest: ContentDigest(of: Data("m".utf8)), manifestSize: 3,
            archive: ContentDigest(of: Data("a".utf8)), archiveSize: 5, installedSize: 4)
        let pack = ContentCatalog.Pack(name: "piano", unlock: unlock, isPurgeable: isPurgeable, versions: [version])
        let stored = try JSONDecoder().decode(
            PackDescription.self, from: try JSONEncoder().encode(PackDescription(pack, version, from: "web")))
        #expect(stored.pack == pack)
        #expect(stored.source == "web")
    }

    @Test func `the progress of a download has its fraction and its remaining time`() {
        typealias Progress = Tenure.AssetPack.Progress
        let progress = Progress(bytes: 25, total: 125, bytesPerSecond: 20)
        #expect(progress.fraction == 0.2 && progress.timeRemaining == 5)
        for speed in [nil, 0] as [Double?] {
            #expect(Progress(bytes: 25, total: 125, bytesPerSecond: speed).timeRemaining == nil)
        }
        #expect(Progress(bytes: 0, total: 0, bytesPerSecond: nil).fraction == 1)
        #expect(Progress(bytes: 200, total: 100, bytesPerSecond: nil).fraction == 1)
    }
}
