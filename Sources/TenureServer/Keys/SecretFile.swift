import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A secret in a file that only its owner can read: made on first need, and never replaced.
package struct SecretFile {
    package let path: String

    package init(path: String) {
        self.path = path
    }

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
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read it")
        }
        defer { close(descriptor) }
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let mode = attributes[.posixPermissions] as? NSNumber
        else { throw failure("read the rights of it") }
        guard mode.intValue & 0o077 == 0 else {
            throw .keyFile(path: path, detail: "others than its owner can read it; run `chmod 600` on it, or remove it")
        }
        var contents = [UInt8](repeating: 0, count: 4096)
        let count = contents.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw failure("read it") }
        return Array(contents.prefix(count))
    }

    /// Complete or not at all: written aside, flushed, and then given its name, unless something bears it already.
    private func write(_ contents: [UInt8]) throws(ServiceError) {
        let aside = "\(path).\(UInt64.random(in: .min ... .max))"
        let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("make it") }
        defer { unlink(aside) }
        let written = contents.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
        let isFlushed = fsync(descriptor) == 0
        close(descriptor)
        guard written == contents.count, isFlushed else { throw failure("write it") }
        guard link(aside, path) == 0 || errno == EEXIST else { throw failure("make it") }
        let folder = (path as NSString).deletingLastPathComponent
        let folderDescriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { return }
        fsync(folderDescriptor)
        close(folderDescriptor)
    }

    private func failure(_ act: String) -> ServiceError {
        .keyFile(path: path, detail: "cannot \(act) (\(String(cString: strerror(errno)).lowercased()))")
    }
}

// The methods of `SecretFile` hide the system's functions of the same names.
private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
