import Foundation
import TenureFileAttributes
import TenureFiles

/// A file with a secret, such as a private key. All code of the service that reads or writes such a file uses this
/// type.
///
/// Only the file's owner may have access to it. `FilePermissions` has an exception for Kubernetes.
package struct SecretFile: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Reads the file; if it's missing, creates it with the bytes that `make` returns. Throws `keyFile` if neither is
    /// possible, or if other users can read the file.
    package func contents(orMake make: () throws(ServiceError) -> [UInt8]) throws(ServiceError) -> [UInt8] {
        if let contents = try read() { return contents }
        try requireNoLink()
        try write(make())
        // If another process created the file first, its contents are used.
        guard let contents = try read() else {
            throw .keyFile(path: path, detail: "the file was removed just after it was created; start again")
        }
        return contents
    }

    /// Reads the file. Throws `keyFile` if it's missing or can't be read, or if other users can read it.
    package func existingContents(upTo limit: Int = SecretFile.maximumKeySize) throws(ServiceError) -> [UInt8] {
        guard let contents = try read(upTo: limit) else {
            try requireNoLink()
            throw .keyFile(path: path, detail: "there is no such file; check the path")
        }
        return contents
    }

    /// Creates the file with these contents. Throws `keyFile` if it exists already or can't be created.
    package func make(_ contents: [UInt8]) throws(ServiceError) {
        if !exists {
            try write(contents)
            // Another process may have created the file, or the path may be a symbolic link to a file that doesn't
            // exist.
            if try read() == contents { return }
        }
        throw .keyFile(path: path, detail: "the file exists already; choose another path, or remove the file")
    }

    /// Returns the contents, and whether other users have access to the file; nil if the file is missing. Callers use
    /// this method for files that contain a secret only sometimes, such as a configuration. Throws `keyFile` if the
    /// file can't be read or has more than `limit` bytes.
    package func contentsIfAny(upTo limit: Int) throws(ServiceError) -> (bytes: [UInt8], isOpenToOthers: Bool)? {
        let contents: [UInt8]?
        var isOpenToOthers = true
        do throws(FileFailure) {
            contents = try file.read(maximumSize: limit) { isOpenToOthers = FilePermissions.areOpenToOthers($0) }
        } catch {
            throw .keyFile(path: path, detail: "can't \(error.operation) the file (\(error.reason))")
        }
        guard let contents else { return nil }
        guard contents.count <= limit else {
            throw .keyFile(
                path: path,
                detail: "the file has more than \(limit) bytes, so it is another kind of file; check the path")
        }
        return (contents, isOpenToOthers && !isCredential)
    }

    /// Returns the file's contents; nil if it's missing. Throws `keyFile` if other users have access to it.
    private func read(upTo limit: Int = SecretFile.maximumKeySize) throws(ServiceError) -> [UInt8]? {
        guard let (bytes, isOpenToOthers) = try contentsIfAny(upTo: limit) else { return nil }
        guard !isOpenToOthers else { throw .keyFile(path: path, detail: Self.openToOthers) }
        return bytes
    }

    /// The problem and its fix for a file to which other users have access.
    package static let openToOthers = """
        users other than the file's owner have access to it; run `chmod 600` on the file (a group may read it only if root \
        owns it, as in Kubernetes)
        """

    /// Replaces the contents atomically, or creates the file. If the path is a symbolic link, the file to which it
    /// leads is replaced: otherwise a former private key would stay there. The file keeps its owner, because a command
    /// may run as root while the service doesn't.
    package func replace(with contents: [UInt8]) throws(ServiceError) {
        if !exists { try requireNoLink() }
        try write(contents, replacing: true, owner: FilePermissions.owner(ofFileAt: path))
    }

    /// Removes the temporary files that killed processes left while they wrote this file, because they contain secrets.
    /// No other process may write the file meanwhile.
    func removeLeftovers() {
        let url = URL(fileURLWithPath: target.path)
        // The name of a temporary file is the file's name, a random number, and the suffix.
        let (folder, start) = (url.deletingLastPathComponent(), url.lastPathComponent + ".")
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            guard name.hasPrefix(start), name.hasSuffix(WholeFile.temporarySuffix),
                UInt64(name.dropFirst(start.count).dropLast(WholeFile.temporarySuffix.count)) != nil
            else { continue }
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    private func write(
        _ contents: [UInt8], replacing: Bool = false, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(ServiceError) {
        do throws(FileFailure) {
            try (replacing ? target : file).write(contents, replacing: replacing, owner: owner)
        } catch {
            throw .keyFile(path: path, detail: "can't \(error.operation) the file (\(error.reason))")
        }
    }

    /// Whether systemd provides the file to this service alone (`LoadCredential=`). Then its mode doesn't matter:
    /// systemd may use an access control list, which the mode shows as group access.
    private var isCredential: Bool {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
            return false
        }
        return URL(fileURLWithPath: path).standardized.deletingLastPathComponent().path
            == URL(fileURLWithPath: folder).standardized.path
    }

    private var file: WholeFile { WholeFile(path: path) }

    /// The file to which the path leads, after all symbolic links.
    private var target: WholeFile {
        guard let resolved = realpath(path, nil) else { return file }
        defer { free(resolved) }
        return WholeFile(path: String(cString: resolved))
    }

    /// Throws `keyFile` if the path is a symbolic link. Call this method after the file wasn't found.
    private func requireNoLink() throws(ServiceError) {
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == nil else {
            throw .keyFile(
                path: path, detail: "it is a symbolic link to a file that doesn't exist; correct or remove the link")
        }
    }

    /// The largest size of a key file in bytes. A file of signing keys has half of this size after a year of daily
    /// rotations.
    static let maximumKeySize = 512 * 1024
}
