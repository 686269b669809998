import Foundation
import TenureContent
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

/// A source that only has a name.
private struct NamedSource: Tenure.ContentSource {
    let identifier: String

    func list() -> [Tenure.ContentListing] { [] }
    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) throws {
        throw Tenure.ContentSourceError.missing
    }
    func remove(_ pack: String) {}
}

@Suite struct `The catalogs of content sources` {
    private let signer = PolicySigner()
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    private let bundleID = InventedApp.bundleID

    private func entry(_ name: String) -> Catalogs.Entry {
        Catalogs.Entry(source: NamedSource(identifier: name), keys: [signer.pin])
    }

    private func listing(_ names: [String], counter: Int64, size: Int64 = 1000) throws -> Tenure.ContentListing {
        let version = ContentCatalog.Version(
            minimumAppVersion: nil, manifest: ContentDigest(of: Data("manifest".utf8)), manifestSize: 300,
            archive: ContentDigest(of: Data("archive".utf8)), archiveSize: size + 2048, installedSize: size)
        let catalog = try ContentCatalog(
            bundleID: bundleID,
            packs: names.map {
                .init(name: $0, unlock: .entitlement("everything"), isPurgeable: false, versions: [version])
            })
        let signed = try SignedCatalog(catalog, counter: counter, issuedAt: InventedApp.now, by: signer.key)
        return .catalog(Data(signed.text.utf8))
    }

    @Test func `an older catalog, or another catalog with the same counter, doesn't replace a known catalog`() throws {
        var entry = entry("first")
        let known = try listing(["piano"], counter: 3)
        let changes = [
            try entry.apply([known], bundleID: bundleID), try entry.apply([known], bundleID: bundleID),
        ]
        #expect(changes == [true, false])
        let (older, other) = (try listing(["piano"], counter: 2), try listing(["organ"], counter: 3))
        #expect(throws: ContentError.older(counter: 2, known: 3)) { try entry.apply([older], bundleID: bundleID) }
        #expect(throws: ContentError.sameCounter(3)) { try entry.apply([other], bundleID: bundleID) }
        #expect(entry.signedCatalog?.catalog["piano"] != nil && entry.isKnown)
        let isChanged = try entry.apply([try listing(["organ"], counter: 4)], bundleID: bundleID)
        #expect(isChanged && entry.signedCatalog?.counter == 4)
    }

    @Test func `a valid catalog is used although another one of its source is invalid, which is reported`() throws {
        let invalid = Tenure.ContentListing.catalog(Data("<html>".utf8))
        var entry = entry("first")
        #expect(throws: ContentError.self) { try entry.apply([invalid], bundleID: bundleID) }
        #expect(entry.signedCatalog == nil && !entry.isKnown)
        let valid = try listing(["piano"], counter: 1)
        #expect(throws: ContentError.self) { try entry.apply([invalid, valid], bundleID: bundleID) }
        #expect(entry.signedCatalog?.counter == 1 && entry.isKnown)
    }

    @Test func `a folder in the bundle without its list is reported, and isn't read again`() {
        var entry = Catalogs.Entry(source: BundledContent(folder: folder), keys: [])
        let problem = ContentError.invalidEmbeddedContent("there is no such file in `\(folder.path)`")
        #expect(throws: problem) { try entry.apply([.folder(folder)], bundleID: bundleID) }
        #expect(entry.isKnown && entry.embedded.isEmpty)
    }

    @Test func `a pack comes from the first source that has it, or from the source where its download began`() throws {
        var (first, second) = (entry("first"), entry("second"))
        #expect(Catalogs([first, second]).isEmpty && !Catalogs([first, second]).areComplete)
        _ = try first.apply([try listing(["piano", "organ"], counter: 1)], bundleID: bundleID)
        #expect(!Catalogs([first, second]).isEmpty && !Catalogs([first, second]).areComplete)
        _ = try second.apply([try listing(["piano", "drums"], counter: 1, size: 2000)], bundleID: bundleID)
        let catalogs = Catalogs([first, second])
        #expect(catalogs.areComplete)
        #expect(catalogs.packs.map(\.name) == ["organ", "piano", "drums"])
        #expect(catalogs.packs.map { $0.versions[0].installedSize } == [1000, 1000, 2000])
        #expect(catalogs.pack("piano")?.versions[0].installedSize == 1000 && catalogs.pack("flute") == nil)
        let sources: [(pack: String, begun: String?, source: String?)] = [
            ("piano", nil, "first"), ("drums", nil, "second"), ("flute", nil, nil), ("piano", "second", "second"),
            ("piano", "gone", "first"), ("flute", "second", "second"),
        ]
        for (pack, begun, source) in sources {
            #expect(catalogs.source(of: pack, begunWith: begun)?.identifier == source, "\(pack), \(begun ?? "")")
        }
    }

    @Test func `a stored catalog is replaced only by a newer one, and is read only with its key and for its app`()
        throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        func restored(keys: [PinnedKey], bundleID: String) -> Catalogs.Entry {
            var catalogs = Catalogs([Catalogs.Entry(source: NamedSource(identifier: "first"), keys: keys)])
            catalogs.restore(from: folder, bundleID: bundleID)
            return catalogs.entries[0]
        }
        #expect(!restored(keys: [signer.pin], bundleID: bundleID).isKnown)
        for (counter, kept) in [(2, 2), (1, 2), (3, 3)] as [(Int64, Int64)] {
            var entry = entry("first")
            _ = try entry.apply([try listing(["piano"], counter: counter)], bundleID: bundleID)
            try entry.store(in: folder, bundleID: bundleID)
            let known = restored(keys: [signer.pin], bundleID: bundleID)
            #expect(known.signedCatalog?.counter == kept && known.isKnown)
        }
        let stranger = restored(keys: [PolicySigner().pin], bundleID: bundleID)
        #expect(stranger.signedCatalog == nil && !stranger.isKnown)
        #expect(restored(keys: [signer.pin], bundleID: "com.example.notes").signedCatalog == nil)
    }
}
