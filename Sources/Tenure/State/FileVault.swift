package import Foundation
import TenureCore

/// A folder of the user's that nobody else can read: the state, and the secret that seals it.
package struct FileVault: Vault {
    let folder: URL
    private let state: WholeFile
    private let secretFile: WholeFile

    static let stateName = "state"
    static let secretName = "secret"
    private static let secretSize = 32

    package init(folder: URL) {
        self.folder = folder
        let path = folder.path
        state = WholeFile(path: path + "/" + Self.stateName)
        secretFile = WholeFile(path: path + "/" + Self.secretName)
    }

    /// `$XDG_DATA_HOME/tenure/NAME`, in the home folder where that is not set.
    package static func standard(name: String) -> FileVault {
        let environment = ProcessInfo.processInfo.environment
        let root: URL
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            root = URL(fileURLWithPath: data, isDirectory: true)
        } else {
            root = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
                .appendingPathComponent(".local/share", isDirectory: true)
        }
        let plain = String(name.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        let safe = plain.allSatisfy { $0 == "." } ? "app" : plain
        return FileVault(folder: root.appendingPathComponent("tenure/" + safe, isDirectory: true))
    }

    package func read() throws -> Data? { try contents(of: state) }

    package func write(_ contents: Data) throws { try write(contents, to: state, replacing: true) }

    package func secret() throws -> Data {
        if let secret = try contents(of: secretFile), secret.count == Self.secretSize { return secret }
        var generator = SystemRandomNumberGenerator()
        let made = Data((0..<Self.secretSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        // One that was cut short seals nothing any more. Another process may have been quicker: what lies there counts.
        let isDamaged = try contents(of: secretFile) != nil
        try write(made, to: secretFile, replacing: isDamaged)
        return try contents(of: secretFile) ?? made
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == ".")
            && scalar.value > 0x20
    }

    private func contents(of file: WholeFile) throws -> Data? {
        guard let contents = try file.read(most: SealedState.largestSize) else { return nil }
        // Nothing that this client wrote is that large.
        return contents.bytes.count <= SealedState.largestSize ? Data(contents.bytes) : Data()
    }

    private func write(_ contents: Data, to file: WholeFile, replacing: Bool) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try file.write(contents, replacing: replacing)
    }
}
