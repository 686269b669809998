import TenureContent

/// A pack with files on the device: downloaded by Tenure, or part of the app's bundle.
protocol PackInUse: Sendable {
    var version: ContentDigest { get }
    var path: String { get }
    /// The paths of all files in the pack.
    var files: [String] { get }
}

extension InstalledPack: PackInUse { var files: [String] { manifest.files.map(\.path) } }

extension EmbeddedPack: PackInUse {
    var version: ContentDigest { pack.version }
    var files: [String] { pack.files.map(\.path) }
}

extension PackInUse {
    /// Returns true for a file, false for a folder, and nil if the pack has neither at this path. A folder exists only
    /// as a part of the files' paths.
    func isFile(_ path: String) -> Bool? {
        if path.isEmpty { return false }
        let files = files
        if files.contains(path) { return true }
        return files.contains { $0.hasPrefix(path + "/") } ? false : nil
    }
}
