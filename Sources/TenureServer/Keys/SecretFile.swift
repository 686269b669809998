import Foundation
import TenureCore
import TenureStore

/// A secret in a file that only its owner can read: made on first need, and never replaced.
package struct SecretFile: Sendable {
    package let path: String
    /// In bytes. A key in PEM has less than the usual limit.
    private let largestSize: Int

    package init(path: String, largestSize: Int = 4096) {
        self.path = path
        self.largestSize = largestSize
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
    package func existingContents() throws(ServiceError) -> [UInt8] {
        guard let contents = try read() else { throw .keyFile(path: path, detail: "there is no such file") }
        return contents
    }

    private func read() throws(ServiceError) -> [UInt8]? {
        let contents: WholeFile.Contents?
        var isOpenToOthers = true
        do throws(FileFailure) {
            contents = try file.read(most: largestSize) { isOpenToOthers = FilePermissions.areOpenToOthers($0) }
        } catch {
            throw .keyFile(path: path, detail: "cannot \(error.act) it (\(error.reason))")
        }
        guard let contents else { return nil }
        guard !isOpenToOthers || isCredential else {
            throw .keyFile(path: path, detail: "others than its owner can read it; run `chmod 600` on it, or remove it")
        }
        guard contents.bytes.count <= largestSize else {
            throw .keyFile(path: path, detail: "it is larger than any key; restore it from your backup")
        }
        return contents.bytes
    }

    /// Puts other contents in its place, at once and whole.
    func replace(with contents: [UInt8]) throws(ServiceError) { try write(contents, replacing: true) }

    private func write(_ contents: [UInt8], replacing: Bool = false) throws(ServiceError) {
        do throws(FileFailure) {
            try file.write(contents, replacing: replacing)
        } catch {
            throw .keyFile(path: path, detail: "cannot \(error.act) it (\(error.reason))")
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
}
