import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenurePolicyFile

@testable import Tenure

/// A published folder with its server, and a device that downloads from it.
final class ContentTestBed: Sendable {
    let folder: Folder
    let server: ContentServer
    let key = P256.Signing.PrivateKey()
    let device: Device

    init(
        _ files: [String: Data], unlock: ContentCatalog.Unlock = .entitlement("everything"),
        minimumAppVersion: String? = nil, store: FakeStore = FakeStore { $0.app = InventedApp.owner() },
        faults: [ContentServer.Fault] = [], _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) throws {
        let folder = try Folder()
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder.path + "/public", withIntermediateDirectories: true)
        server = try ContentServer(folder: folder.path + "/public", faults: faults)
        let (url, text) = (server.url, PinnedKey(key.publicKey).text)
        device = Device(store) { setup in
            setup.options.content = .webServer(url, keys: [text])
            setup.contentLocation = ContentLocation(in: folder.url("device"))
            setup.stallTimeout = 0.5
            change(&setup)
        }
        try publish(files, unlock: unlock, minimumAppVersion: minimumAppVersion)
    }

    deinit { server.stop() }

    /// The published folder.
    var published: String { folder.path + "/public" }
    /// The keys that sign the catalog.
    var keys: [String] { [PinnedKey(key.publicKey).text] }
    var location: ContentLocation { ContentLocation(in: folder.url("device")) }
    /// The key that signs the catalog.
    var keyText: String { PinnedKey(key.publicKey).text }

    @discardableResult
    func publish(
        _ files: [String: Data], unlock: ContentCatalog.Unlock = .entitlement("everything"),
        minimumAppVersion: String? = nil, isPurgeable: Bool = false, named name: String = "piano"
    ) throws -> ContentPublisher.Publication {
        let pack = try pack(
            files, unlock: unlock, minimumAppVersion: minimumAppVersion, isPurgeable: isPurgeable, named: name)
        return try publish([pack])
    }

    @discardableResult
    func publish(_ packs: [PackSource]) throws -> ContentPublisher.Publication {
        try ContentPublisher(folder: published, key: key).publish(bundleID: InventedApp.bundleID, packs: packs)
    }

    /// A pack that can be published or embedded.
    func pack(
        _ files: [String: Data], unlock: ContentCatalog.Unlock = .entitlement("everything"),
        minimumAppVersion: String? = nil, isPurgeable: Bool = false, named name: String = "piano"
    ) throws -> PackSource {
        let source = folder.path + "/source-" + name
        try? FileManager.default.removeItem(atPath: source)
        for (path, data) in files {
            let file = URL(fileURLWithPath: source + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
        return try PackSource(
            name: name, unlock: unlock, isPurgeable: isPurgeable,
            minimumAppVersion: minimumAppVersion.flatMap { AppVersion($0) }, folder: source)
    }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed
        var data = Data(capacity: count)
        while data.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state.bigEndian) { data.append(contentsOf: $0.prefix(4)) }
        }
        return data.prefix(count)
    }

    /// Ends an app during a download, which is paused. Waits until the download has stopped.
    static func end(_ app: inout Tenure?, during download: Task<Void?, Never>) async throws {
        guard let piano = app?.content["piano"] else { return }
        await piano.pause()
        download.cancel()
        app = nil
        while await piano.library.runningDownload != nil { try await Task.sleep(nanoseconds: 5_000_000) }
    }

    /// The files of an installed pack, by path.
    static func contents(of tenure: Tenure) async throws -> [String: Data] {
        let root = try await tenure.content["piano"].url(for: "")
        var files: [String: Data] = [:]
        for name in FileManager.default.enumerator(atPath: root.path)?.compactMap({ $0 as? String }) ?? [] {
            if let data = FileManager.default.contents(atPath: root.path + "/" + name) { files[name] = data }
        }
        return files
    }
}

extension Tenure.AssetPack {
    /// Waits for a state.
    func reaches(_ isWanted: (State) -> Bool) async -> State {
        for await state in states where isWanted(state) { return state }
        return state
    }

    /// Waits until a download has more than some bytes. Returns how many it has.
    func reaches(bytes: Int64) async -> Int64 {
        let state = await reaches { if case .downloading(let progress) = $0 { progress.bytes > bytes } else { false } }
        if case .downloading(let progress) = state { return progress.bytes } else { return 0 }
    }
}
