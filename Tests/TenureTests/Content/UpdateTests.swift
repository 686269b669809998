import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

/// Updates of installed packs, and catalogs that clients must not use.
@Suite(.timeLimit(.minutes(5))) struct `Updates of asset packs` {
    private static let files: [String: Data] = [
        "a.wav": ContentTestBed.bytes(100_000, seed: 1), "b.wav": ContentTestBed.bytes(20_000, seed: 2),
        "c.wav": ContentTestBed.bytes(100_000, seed: 3), "d.wav": ContentTestBed.bytes(200_000, seed: 4),
        "e.wav": ContentTestBed.bytes(100_000, seed: 5),
    ]

    private static func number(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
    }

    @Test func `an update fetches neighboring changed files in one range, and reuses the unchanged files`() async throws
    {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        let old = try await piano.url(for: "d.wav")
        let before = await tenure.content.packs.first?.bytesOnDisk ?? 0
        var changed = Self.files
        for (index, name) in ["a.wav", "c.wav", "e.wav"].enumerated() {
            changed[name] = ContentTestBed.bytes(100_000, seed: UInt64(index + 10))
        }
        try testBed.publish(changed)
        await tenure.content.refresh()
        testBed.server.resetCount()
        testBed.server.slowDown(20_000)
        let totals = Locked<Set<Int64>>([])
        let watching = Task {
            for await state in piano.states {
                guard case .installed(_, .downloading(let progress)?) = state else { continue }
                totals.withLock { _ = $0.insert(progress.total) }
            }
        }
        try await piano.download()
        watching.cancel()
        #expect(totals.withLock { $0 } == [300_000], "progress counts what is fetched")
        #expect(try await ContentTestBed.contents(of: tenure) == changed)
        // 20 KB lie between the first two, 200 KB before the last.
        #expect(testBed.server.ranges.count == 2, "\(testBed.server.ranges)")
        #expect(testBed.server.sent < 330_000)
        let new = try await piano.url(for: "d.wav")
        #expect(old != new)
        #expect(try Self.number(of: old) == Self.number(of: new), "both versions share the unchanged file")
        // Both versions are there, and shared bytes are counted once.
        let after = await tenure.content.packs.first?.bytesOnDisk ?? 0
        #expect(after >= before + 300_000 && after < before + 320_000, "\(before), then \(after)")
    }

    @Test func `an update fetches a file again if its installed copy is damaged`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        try await piano.download()
        let file = try await piano.url(for: "d.wav")
        var bytes = try Data(contentsOf: file)
        bytes[100] ^= 1
        try bytes.write(to: file)
        var changed = Self.files
        changed["a.wav"] = ContentTestBed.bytes(50_000, seed: 10)
        try testBed.publish(changed)
        await tenure.content.refresh()
        try await piano.download()
        #expect(try await ContentTestBed.contents(of: tenure) == changed)
    }

    @Test func `an update fetches a reused file again if it was damaged while the app was closed`() async throws {
        let testBed = try ContentTestBed(Self.files)
        var first: Tenure? = testBed.device.start { $0.stallTimeout = 60 }
        let piano = try #require(first).content["piano"]
        try await piano.download()
        var changed = Self.files
        changed["a.wav"] = ContentTestBed.bytes(3_000_000, seed: 10)
        try testBed.publish(changed)
        await first?.content.refresh()
        testBed.server.resetCount()
        testBed.server.hold(after: 1_000_000)
        let download = Task { try? await piano.download() }
        _ = await piano.reaches {
            if case .installed(_, .downloading(let progress)?) = $0 { progress.bytes > 100_000 } else { false }
        }
        try await ContentTestBed.end(&first, during: download)
        // The old version has the same file under another name.
        let path = testBed.folder.path + "/device/content/packs/piano/partial/files/d.wav"
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 100)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data([byte ^ 1]))
        try file.close()
        testBed.server.hold(after: nil)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == changed)
    }

    @Test func `a pack is installed only if its stored manifest is the manifest in the catalog`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let first = testBed.device.start()
        try await first.content["piano"].download()
        let folder = testBed.folder.path + "/device/content/packs/piano"
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder).first { $0.count == 64 + ".json".count })
        let path = folder + "/" + name
        let text = try String(contentsOfFile: path, encoding: .utf8)
        // Valid, and without a file that the app may ask for.
        try Data(text.replacingOccurrences(of: "e.wav", with: "f.wav").utf8).write(to: URL(fileURLWithPath: path))
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        _ = await piano.reaches { if case .available = $0 { true } else { false } }
        try await piano.download()
        _ = try await piano.url(for: "e.wav")
    }

    // MARK: Catalogs

    private func offer(_ publication: ContentPublisher.Publication, bundleID: String, in testBed: ContentTestBed) throws
    {
        let catalog = publication.catalog
        let signed = try SignedCatalog(
            try ContentCatalog(
                bundleID: bundleID,
                packs: catalog.catalog.packs.map {
                    .init(name: "organ", unlock: $0.unlock, isPurgeable: $0.isPurgeable, versions: $0.versions)
                }),
            counter: catalog.counter, issuedAt: catalog.issuedAt, by: testBed.key)
        try Data(signed.text.utf8).write(to: testBed.folder.url("public/catalog.jws"))
    }

    @Test func `asset packs ignore a different catalog with the same counter`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let publication = try testBed.publish(Self.files)
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        try offer(publication, bundleID: InventedApp.bundleID, in: testBed)
        await tenure.content.refresh()
        #expect(tenure.content["organ"].state == .unknown)
        guard case .available = tenure.content["piano"].state else {
            return #expect(Bool(false), "\(tenure.content["piano"].state)")
        }
    }

    @Test func `asset packs never return to an older catalog, even in several steps`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let publication = try testBed.publish(Self.files)
        let current = publication.catalog
        func serve(counter: Int64) throws {
            let signed = try SignedCatalog(
                current.catalog, counter: counter, issuedAt: current.issuedAt, by: testBed.key)
            try Data(signed.text.utf8).write(to: testBed.folder.url("public/catalog.jws"))
        }
        // What was published twice, with another catalog in between.
        try offer(publication, bundleID: InventedApp.bundleID, in: testBed)
        let between = try Data(contentsOf: testBed.folder.url("public/catalog.jws"))
        try serve(counter: current.counter + 1)
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        try serve(counter: current.counter - 1)
        await tenure.content.refresh()
        try between.write(to: testBed.folder.url("public/catalog.jws"))
        await tenure.content.refresh()
        #expect(tenure.content["organ"].state == .unknown)
        guard case .available = tenure.content["piano"].state else {
            return #expect(Bool(false), "\(tenure.content["piano"].state)")
        }
    }

    @Test func `updates of asset packs fail if the catalog and the manifest state different sizes of the archive`()
        async throws
    {
        let testBed = try ContentTestBed(Self.files)
        let catalog = try testBed.publish(Self.files).catalog
        let packs = catalog.catalog.packs.map { pack in
            ContentCatalog.Pack(
                name: pack.name, unlock: pack.unlock, isPurgeable: pack.isPurgeable,
                versions: pack.versions.map { version in
                    ContentCatalog.Version(
                        minimumAppVersion: version.minimumAppVersion, manifest: version.manifest,
                        manifestSize: version.manifestSize, archive: version.archive,
                        archiveSize: version.archiveSize + 512, installedSize: version.installedSize)
                })
        }
        let signed = try SignedCatalog(
            try ContentCatalog(bundleID: InventedApp.bundleID, packs: packs), counter: catalog.counter + 1,
            issuedAt: catalog.issuedAt, by: testBed.key)
        try Data(signed.text.utf8).write(to: testBed.folder.url("public/catalog.jws"))
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await tenure.content["piano"].download() }
        #expect(testBed.server.ranges.isEmpty)
    }

    @Test func `asset packs ignore the catalog of another app, even if the same key signed it`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let publication = try testBed.publish(Self.files)
        try offer(publication, bundleID: "com.example.notes", in: testBed)
        let tenure = testBed.device.start()
        await tenure.content.refresh()
        #expect(tenure.content["organ"].state == .unknown)
        #expect(await tenure.content.packs == [])
    }
}
