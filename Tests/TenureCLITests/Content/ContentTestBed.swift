import CommandRunner
import Foundation
import TenureContent
import TenurePolicyFile
import Testing

/// A developer's folder with asset packs and a signing key.
struct ContentTestBed {
    let folder: Folder
    let key: String
    let pin: PinnedKey

    init(_ content: String = Self.content) async throws {
        folder = try Folder()
        key = folder.url("policy-key.pem").path
        let made = try await Command.run("policy", "signing-key", key)
        pin = try #require(PinnedKey(made.output))
        try folder.write(content, to: "content.yaml")
        try write("c4", to: "piano/samples/c4.wav")
        try write("c5", to: "piano/samples/c5.wav")
        try write("beat", to: "loops/beat.caf")
    }

    static let content = """
        app: com.example.calculator
        packs:
          grand-piano: { entitlement: everything, files: piano/, minimumAppVersion: "3.2" }
          loops: { product: com.example.calculator.yearly, files: loops/, storage: purgeable }
        """

    var published: String { folder.url("published").path }

    func write(_ text: String, to path: String) throws { try write(Data(text.utf8), to: path) }

    func write(_ bytes: Data, to path: String) throws {
        let url = folder.url(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
    }

    /// Writes a file of this size that uses no disk space.
    func writeSparse(_ size: Int64, to path: String) throws {
        try write("", to: path)
        try #require(truncate(folder.url(path).path, off_t(size)) == 0)
    }

    func run(_ command: String, _ arguments: String...) async throws -> Command.Result {
        try await Command.run(["content", command, folder.url("content.yaml").path] + arguments)
    }

    func publish(_ arguments: String...) async throws -> Command.Result {
        try await Command.run(
            ["content", "publish", folder.url("content.yaml").path, "--key", key, "--to", published] + arguments)
    }

    func catalog() throws -> SignedCatalog {
        try SignedCatalog.verify(
            Data(contentsOf: folder.url("published/catalog.jws")), keys: [pin], bundleID: "com.example.calculator")
    }

    /// Names of files in the published folder.
    func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: published))
    }
}
