import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenurePolicyFile

/// A published asset pack `piano` with many bytes, and the web server in front of it, which can be killed.
final class PublishedFolder {
    let folder: Folder
    private let key = P256.Signing.PrivateKey()
    private(set) var server: RunningCommand
    let serverPort: Int

    struct NoServer: Error {}

    init() async throws {
        folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/public", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path + "/source", withIntermediateDirectories: true)
        server = try Self.serve(folder.path + "/public", 0)
        guard let port = try await server.port() else { throw NoServer() }
        serverPort = port
    }

    private static func serve(_ folder: String, _ port: Int) throws -> RunningCommand {
        try RunningCommand(
            ["serve", folder, "\(port)"], executable: Command.executable(named: "ContentProcess"))
    }

    /// Where the pack's files come from.
    var source: String { folder.path + "/source" }
    var keyText: String { PinnedKey(key.publicKey).text }
    /// A folder for a device.
    var device: String { folder.path + "/device" }

    func url(port: Int? = nil) -> String { "http://127.0.0.1:\(port ?? serverPort)" }

    /// Kills the server with SIGKILL, and starts it again after a moment.
    func killServer() async throws {
        _ = await server.end(by: SIGKILL)
        try await Task.sleep(nanoseconds: 300_000_000)
        server = try Self.serve(folder.path + "/public", serverPort)
        guard try await server.port() != nil else { throw NoServer() }
    }

    /// Writes a file of the pack with random bytes.
    func write(_ path: String, _ size: Int) throws {
        let location = source + "/" + path
        try FileManager.default.createDirectory(
            atPath: (location as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: location, contents: nil)
        guard let random = FileHandle(forReadingAtPath: "/dev/urandom"),
            let file = FileHandle(forWritingAtPath: location)
        else { throw NoServer() }
        defer { try? file.close() }
        var left = size
        while left > 0, let piece = try random.read(upToCount: min(left, 1 << 20)) {
            try file.write(contentsOf: piece)
            left -= piece.count
        }
    }

    func rename(_ path: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: source + "/" + path, toPath: source + "/" + other)
    }

    /// Returns the size of the archive.
    @discardableResult
    func publish() throws -> Int {
        let pack = try PackSource(name: "piano", unlock: .entitlement("everything"), folder: source)
        let publication = try ContentPublisher(folder: folder.path + "/public", key: key).publish(
            bundleID: InventedApp.bundleID, packs: [pack])
        return Int(publication.packs.first?.version.archiveSize ?? 0)
    }
}
