import Foundation
import TenureCore
import TenureFileAttributes
import TenureFiles
import TenureStore

/// A file that holds a secret: every such file is read here, at the start and whenever it is read again.
///
/// Only its owner may use it; see `FilePermissions`. A file of the service's own is made on first need, and never
/// replaced.
package struct SecretFile: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    package var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Throws `keyFile` where it can be neither read nor made, or others can read it.
    package func contents(orMake make: () -> [UInt8]) throws(ServiceError) -> [UInt8] {
        if let contents = try read() { return contents }
        try write(make())
        // Another process may have been quicker: what lies there counts.
        guard let contents = try read() else { throw .keyFile(path: path, detail: "it vanished; start again") }
        return contents
    }

    /// Of a file that somebody else makes.
    package func existingContents(upTo limit: Int = SecretFile.largestKey) throws(ServiceError) -> [UInt8] {
        guard let contents = try read(upTo: limit) else {
            throw .keyFile(path: path, detail: "there is no such file")
        }
        return contents
    }

    /// Throws `keyFile` where something lies there already, or it can't be made.
    package func make(_ contents: [UInt8]) throws(ServiceError) {
        guard !exists else {
            throw .keyFile(path: path, detail: "it exists already; choose another path, or remove the file")
        }
        try write(contents)
    }

    /// The contents of any file, and whether others than its owner may use it: for files that hold a secret only
    /// sometimes, such as a configuration.
    package func contentsIfAny(upTo limit: Int) throws(ServiceError) -> (bytes: [UInt8], isOpenToOthers: Bool)? {
        let contents: WholeFile.Contents?
        var isOpenToOthers = true
        do throws(FileFailure) {
            contents = try file.read(most: limit) { isOpenToOthers = FilePermissions.areOpenToOthers($0) }
        } catch {
            throw .keyFile(path: path, detail: "cannot \(error.operation) it (\(error.reason))")
        }
        guard let contents else { return nil }
        guard contents.bytes.count <= limit else {
            throw .keyFile(path: path, detail: "it is larger than \(limit) bytes, and nothing of this kind is")
        }
        return (contents.bytes, isOpenToOthers && !isCredential)
    }

    private func read(upTo limit: Int = SecretFile.largestKey) throws(ServiceError) -> [UInt8]? {
        guard let (bytes, isOpenToOthers) = try contentsIfAny(upTo: limit) else { return nil }
        guard !isOpenToOthers else { throw .keyFile(path: path, detail: Self.openToOthers) }
        return bytes
    }

    /// What to do about a file that others can read.
    package static let openToOthers = """
        others than its owner can use it; run `chmod 600` on it (a group may read it only if root owns it, as in \
        Kubernetes)
        """

    /// Replaces the contents atomically, or creates the file. The owner stays: the command may run as root, and the service
    /// not.
    package func replace(with contents: [UInt8]) throws(ServiceError) {
        try write(contents, replacing: true, owner: FilePermissions.owner(ofFileAt: path))
    }

    private func write(
        _ contents: [UInt8], replacing: Bool = false, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(ServiceError) {
        do throws(FileFailure) {
            try file.write(contents, replacing: replacing, owner: owner)
        } catch {
            throw .keyFile(path: path, detail: "cannot \(error.operation) it (\(error.reason))")
        }
    }

    /// Whether systemd keeps it for this service alone (`LoadCredential=`), whatever its mode says: it may be readable by
    /// group, which is how an access list shows.
    private var isCredential: Bool {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
            return false
        }
        return URL(fileURLWithPath: path).standardized.deletingLastPathComponent().path
            == URL(fileURLWithPath: folder).standardized.path
    }

    private var file: WholeFile { WholeFile(path: path) }

    /// In bytes. The signing keys of a year with one each day take half of it.
    package static let largestKey = 512 * 1024
}
