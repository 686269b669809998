import Crypto
import Foundation
import Tenure
import TenureContent
import TenureContentPublishing
import TenureHTTP
import TenurePolicyFile

/// A published folder of content, and clients that install it from a web server.
struct ContentBenchmark: Sendable {
    private let published: URL
    private let key = P256.Signing.PrivateKey()

    static let pack = "grand-piano"

    /// - Parameter published: the folder to publish to.
    init(published: URL) { self.published = published }

    struct Publication: Sendable {
        /// The name of the archive's file in the published folder.
        let archive: String
        /// The size of the archive in bytes.
        let archiveSize: Int64
    }

    /// Publishes a folder as the newest version of the pack, for customers of the entitlement `everything`.
    func publish(files: URL) throws -> Publication {
        let source = try PackSource(name: Self.pack, unlock: .entitlement("everything"), folder: files.path)
        let version = try ContentPublisher(folder: published.path, key: key).publish(
            bundleID: "com.example.calculator", packs: [source]
        ).packs[0].version
        return Publication(archive: version.archive.description, archiveSize: version.archiveSize)
    }

    /// Starts the client of a customer who has the pack's entitlement.
    ///
    /// - Parameters:
    ///   - device: the folder of the device's state; the same folder is the same device.
    ///   - server: serves the published folder.
    func client(on device: URL, server: URL) throws -> ContentClient {
        var setup = try ClientBenchmark(folder: device, now: Date()).setup
        setup.options.content = .webServer(server, keys: [PinnedKey(key.publicKey).text])
        setup.contentLocation = ContentLocation(in: device)
        return ContentClient(Tenure(setup))
    }
}

/// A running client.
struct ContentClient: Sendable {
    private let tenure: Tenure

    init(_ tenure: Tenure) { self.tenure = tenure }

    /// Downloads and installs the newest version.
    func download() async throws {
        await tenure.content.refresh()
        try await tenure.content[ContentBenchmark.pack].download()
    }

    func file(_ path: String) async throws -> URL {
        try await tenure.content[ContentBenchmark.pack].url(for: path)
    }
}
