import TenureCore
import TenurePolicyFile

/// A policy file with the files that it names beside it.
struct PolicyOnDisk {
    let path: String

    func bytes() throws -> [UInt8] {
        try InputFile(path: path).bytes(limit: PolicyFile.maximumSize)
    }

    /// The policy and the release list that it names, as far as they can be found; standard input can be read only once.
    var files: [String] {
        guard path != "-", let bytes = try? bytes() else { return [path] }
        var files = [path]
        _ = PolicyFile.draft(bytes, named: path) { relative in
            files.append(beside(relative))
            return try releaseList(relative)
        }
        return files
    }

    /// Throws `PolicyFileError` with every mistake, or where a file cannot be read.
    func read() throws -> Policy {
        try PolicyFile.read(try bytes(), named: path, releaseList: releaseList)
    }

    /// As an app or a service keeps it. Throws as `read`, and where nobody could read that.
    func compiled() throws -> [UInt8] {
        try PolicyFile.compileChecked(try read(), named: path)
    }

    /// The bytes of a file that the policy names, by its path beside the policy's.
    func releaseList(_ relative: String) throws -> [UInt8] {
        try InputFile(path: beside(relative)).bytes(limit: ReleaseListFile.maximumSize)
    }

    /// Where a file lies that a finding names: the policy itself, or one that the policy names.
    func path(of file: String) -> String { file == path ? file : beside(file) }

    private func beside(_ relative: String) -> String { PolicyFile.path(of: relative, beside: path) }
}
