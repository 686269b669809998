import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenurePolicyFile
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `Hostile manifests` {
    /// Signed by the right key: whoever publishes may have been careless, or robbed.
    private func offer(_ manifest: Data, in world: ContentWorld) throws {
        let publication = try world.publish(["a.txt": Data("abc".utf8)])
        let version = try #require(publication.packs.first?.version)
        let digest = ContentDigest(of: manifest)
        let hostile = ContentCatalog.Version(
            minimumAppVersion: nil, manifest: digest, manifestSize: manifest.count, archive: version.archive,
            archiveSize: version.archiveSize, installedSize: version.installedSize)
        let catalog = try SignedCatalog(
            try ContentCatalog(
                bundleID: World.bundleID,
                packs: [
                    .init(name: "piano", unlock: .entitlement("everything"), isPurgeable: false, versions: [hostile])
                ]), counter: publication.catalog.counter + 1, issuedAt: Date(), by: world.key)
        try manifest.write(to: world.folder.url("public/\(digest)"))
        try Data(catalog.text.utf8).write(to: world.folder.url("public/catalog.jws"))
    }

    private static func mutants(of manifest: Data) -> [Data] {
        let text = String(decoding: manifest, as: UTF8.self)
        var mutants = ["../a.txt", "/a.txt", "a/../../b", "a\\\\b", "./a", "a//b", ""].map {
            Data(text.replacingOccurrences(of: "a.txt", with: $0).utf8)
        }
        mutants += ["-1", "9223372036854775807", "1e999", "null"].map {
            Data(text.replacingOccurrences(of: "\"offset\":512", with: "\"offset\":\($0)").utf8)
        }
        // Every bit flip and truncation in some places.
        for place in stride(from: 0, to: manifest.count, by: 2) {
            var flipped = manifest
            flipped[place] ^= UInt8(1 << (place % 8))
            mutants += [flipped, manifest.prefix(place + 1)]
        }
        return mutants.filter { (try? PackManifest(json: $0)) == nil && !$0.isEmpty }
    }

    @Test func `fail the download, crash nothing and write nothing outside of the pack's folder`() async throws {
        let world = try ContentWorld(["a.txt": Data("abc".utf8)])
        let good = try #require(
            try world.publish(["a.txt": Data("abc".utf8)]).packs.first?.manifest.json)
        let mutants = Self.mutants(of: good)
        #expect(mutants.count >= 200, "\(mutants.count)")
        let tenure = world.device.start()
        let piano = tenure.content["piano"]
        for mutant in mutants {
            try offer(mutant, in: world)
            await tenure.content.refresh()
            await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await piano.download() }
            await piano.cancel()
        }
        let packs = world.folder.path + "/device/content/packs"
        #expect(try FileManager.default.contentsOfDirectory(atPath: packs) == ["piano"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: packs + "/piano") == [])
    }
}
