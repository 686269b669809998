import TenureCore
import TenurePolicyFile

/// A policy file that a command reads, and the release list (the app's real versions and dates) that the policy may
/// name.
struct PolicyOnDisk {
    let path: String

    /// Reads the policy's bytes. Throws if the file can't be read.
    func bytes() throws -> [UInt8] { try InputFile(path: path).bytes(limit: PolicyFile.maximumSize) }

    /// The policy's bytes, for a second reading. Nil if the file can't be read. Also nil for standard input and pipes,
    /// which can be read only once.
    var bytesIfRereadable: [UInt8]? {
        path == "-"
            ? nil : try? InputFile(path: path).bytes(limit: PolicyFile.maximumSize, acceptsPipe: false)
    }

    /// The paths of the policy and of its release list. Only the policy's path if `bytesIfRereadable` is nil.
    var files: [String] {
        guard let bytes = bytesIfRereadable else { return [path] }
        var files = [path]
        // `draft` calls the closure if the policy names a release list.
        _ = PolicyFile.draft(bytes, named: path) { relative in
            files.append(resolvedPath(relative))
            return try releaseList(relative)
        }
        return files
    }

    /// Reads the policy. Throws `PolicyFileError` with every mistake in the text, or `CommandError` if the file can't
    /// be read.
    func read() throws -> Policy { try PolicyFile.read(try bytes(), named: path, releaseList: releaseList) }

    /// Returns the compact JSON for apps and services. Throws as `read` does, and if the JSON would be too large to
    /// read.
    func compiled() throws -> [UInt8] { try PolicyFile.compileChecked(try read(), named: path) }

    /// Returns the bytes of the policy's release list. Its path is relative to the policy's folder.
    func releaseList(_ relative: String) throws -> [UInt8] {
        try InputFile(path: resolvedPath(relative)).bytes(limit: ReleaseListFile.maximumSize, acceptsPipe: false)
    }

    /// Returns the path of a file that a finding names: the policy itself, or its release list.
    func path(of file: String) -> String { file == path ? file : resolvedPath(file) }

    /// Resolves a path that is relative to the policy's folder.
    private func resolvedPath(_ relative: String) -> String { PolicyFile.path(of: relative, beside: path) }
}
