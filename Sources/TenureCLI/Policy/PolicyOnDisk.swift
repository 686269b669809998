import Foundation
import TenureCore
import TenurePolicyFile

/// A policy file with the files that it names beside it.
struct PolicyOnDisk {
    let path: String

    private static let limit = 1 << 20

    func bytes() throws -> [UInt8] {
        try InputFile(path: path).bytes(limit: Self.limit)
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
        try InputFile(path: beside(relative)).bytes(limit: 16 << 20)
    }

    /// Where a file lies that a finding names: the policy itself, or one that the policy names.
    func path(of file: String) -> String { file == path ? file : beside(file) }

    private func beside(_ relative: String) -> String {
        let folder = path == "-" ? "." : (path as NSString).deletingLastPathComponent
        return relative.hasPrefix("/") || folder.isEmpty ? relative : folder + "/" + relative
    }
}
