package import Foundation
import TenureFiles

/// Stores the state in a folder that only the user of the process can read. The folder also has a lock file, and the
/// secret with which the state is sealed (see `SealedState`).
package struct FileStateStorage: StateStorage {
    package let folder: URL

    static let stateName = "state"
    static let secretName = "secret"
    static let lockName = "lock"
    private static let secretSize = 32

    package init(folder: URL) { self.folder = folder }

    private var state: WholeFile { WholeFile(path: folder.path + "/" + Self.stateName) }
    private var secretFile: WholeFile { WholeFile(path: folder.path + "/" + Self.secretName) }

    package func read() throws -> Data? { try contents(of: state) }

    package func update(_ change: (Data?) throws -> Data) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try InterProcessLock(path: folder.path + "/" + Self.lockName).withLock {
            let before = try contents(of: state)
            let after = try change(before)
            if after != before { try state.write(after, replacing: true) }
        }
    }

    /// Returns the secret, and creates it if it is missing or damaged.
    ///
    /// `StateStorage.update` calls this method while the lock is held; `StateStorage.load` calls it without the lock.
    /// If the secret is missing, all processes use the first secret that was written. If it is damaged, two
    /// processes that load at the same time may write different secrets, and the last secret stays. A state that was
    /// sealed with the other secret is then rejected, like a state that was sealed before the damage.
    package func secret() throws -> Data {
        let known = try contents(of: secretFile)
        if let known, known.count == Self.secretSize { return known }
        // Without another generator, `random(in:)` uses the system's cryptographically secure generator.
        let made = Data((0..<Self.secretSize).map { _ in UInt8.random(in: .min ... .max) })
        try secretFile.write(made, replacing: known != nil)
        return try contents(of: secretFile) ?? made
    }

    /// Removes the state and the secret. The lock file stays, because another process may be waiting for the lock.
    package func remove() throws {
        for file in [state, secretFile] where unlink(file.path) != 0 && errno != ENOENT {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// Returns the contents of a file. Nil if the file doesn't exist; empty if the file is too large.
    private func contents(of file: WholeFile) throws -> Data? {
        guard let contents = try file.read(maximumSize: SealedState.maximumSize) else { return nil }
        // The client never writes a larger file. Empty data has no valid seal, so the state is rejected.
        return contents.count <= SealedState.maximumSize ? Data(contents) : Data()
    }

    // MARK: Folders

    /// Returns the storage in `$XDG_DATA_HOME/tenure/NAME`, or in `~/.local/share/tenure/NAME` if the variable isn't
    /// set.
    package static func standard(name: String) -> FileStateStorage {
        FileStateStorage(folder: root.appendingPathComponent(fileName(for: name), isDirectory: true))
    }

    /// Returns the storage in `$XDG_DATA_HOME/tenure/groups/GROUP`, which all processes with this `accessGroup` share.
    static func shared(group: String) -> FileStateStorage {
        FileStateStorage(folder: root.appendingPathComponent("groups/" + fileName(for: group), isDirectory: true))
    }

    /// The folder `tenure` in the user's data folder.
    private static var root: URL {
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent("tenure", isDirectory: true)
        }
        return URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
            .appendingPathComponent(".local/share/tenure", isDirectory: true)
    }

    /// Returns a name as a file name that can't lead out of its folder.
    static func fileName(for name: String) -> String {
        let plain = String(name.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        return plain.allSatisfy { $0 == "." } ? "app" : plain
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-.".unicodeScalars.contains(scalar))
    }
}
