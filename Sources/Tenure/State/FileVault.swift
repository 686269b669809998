package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder of the user's that nobody else can read: the state, and the secret that seals it.
package struct FileVault: Vault {
    let folder: URL

    static let stateName = "state"
    static let secretName = "secret"
    private static let secretSize = 32

    package init(folder: URL) {
        self.folder = folder
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

    package func read() throws -> Data? { try contents(of: Self.stateName) }

    package func write(_ contents: Data) throws { try write(contents, to: Self.stateName, replacing: true) }

    package func secret() throws -> Data {
        if let secret = try contents(of: Self.secretName), secret.count == Self.secretSize { return secret }
        var generator = SystemRandomNumberGenerator()
        let made = Data((0..<Self.secretSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        // One that was cut short seals nothing any more. Another process may have been quicker: what lies there counts.
        let isDamaged = try contents(of: Self.secretName) != nil
        try write(made, to: Self.secretName, replacing: isDamaged)
        return try contents(of: Self.secretName) ?? made
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == ".")
            && scalar.value > 0x20
    }

    private func contents(of name: String) throws -> Data? {
        let path = folder.appendingPathComponent(name).path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileFailure(act: "read", path: path)
        }
        defer { close(descriptor) }
        var contents = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw FileFailure(act: "read", path: path)
            }
            if count == 0 { return contents }
            contents.append(contentsOf: buffer[..<count])
            // Nothing that this client wrote is that large.
            guard contents.count <= SealedState.largestSize else { return Data() }
        }
    }

    /// Written aside, flushed, and then given its name.
    private func write(_ contents: Data, to name: String, replacing: Bool) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = folder.appendingPathComponent(name).path
        let aside = "\(path).\(UInt64.random(in: .min ... .max))"
        let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure(act: "make", path: aside) }
        defer { unlink(aside) }
        let isWritten = contents.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
            }
            return fsync(descriptor) == 0
        }
        close(descriptor)
        guard isWritten else { throw FileFailure(act: "write", path: path) }
        let isNamed = replacing ? rename(aside, path) == 0 : (link(aside, path) == 0 || errno == EEXIST)
        guard isNamed else { throw FileFailure(act: "name", path: path) }
        // The name, too, must outlive a loss of power.
        let folderDescriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { return }
        fsync(folderDescriptor)
        close(folderDescriptor)
    }
}

/// What the system said about a file.
struct FileFailure: Error, CustomStringConvertible {
    let description: String

    init(act: String, path: String) {
        description = "cannot \(act) `\(path)` (\(String(cString: strerror(errno)).lowercased()))"
    }
}

// The methods of `FileVault` hide the system's functions of the same names.
private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
