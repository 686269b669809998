import TenureAppStore
package import TenureStore

/// A problem that stops a rehearsal (a dry run of a policy over real customers). Rejected lines in an evidence file
/// don't stop it: they are counted.
package enum RehearsalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file at this path can't be read.
    case unreadable(String)
    /// The path is that of a folder, not of an evidence file.
    case folder(String)
    /// The evidence file at this path is compressed, and `gzip` isn't installed.
    case noGzip(String)
    /// `gzip` reported that the compressed evidence is damaged or incomplete.
    case damagedArchive
    /// A signal ended `gzip` before the end of the evidence.
    case gzipKilled(signal: Int32)
    /// The temporary folder at this path isn't writable.
    case unwritableTemporaryFolder(String)
    /// A file in the temporary folder can't be read back.
    case unreadableTemporaryFile(String)
    /// The database of the service can't be read.
    case database(StoreError)
    /// The version of the policy with this number can't be read from the database. Promises (recorded rights of
    /// customers) refer to it.
    case brokenPolicy(Int64)
    /// A condition of `--fail-if` is invalid. `why` names the problem and the fix.
    case condition(String, why: String)

    package var description: String {
        switch self {
        case .unreadable(let path):
            "`\(Self.shortened(path))` can't be read; check that it is the path of a file, and that you may read it"
        case .folder(let path): "`\(path)` is a folder; pass the path of an evidence file"
        case .noGzip(let path):
            "`\(path)` is compressed, and `gzip` isn't installed; install it, or decompress the file first"
        case .damagedArchive:
            "the compressed file is damaged or incomplete, so only the lines before the damage were counted; export it again"
        case .gzipKilled(let signal):
            "signal \(signal) ended `gzip`, so only the lines before that were counted; check the free memory, and rehearse again"
        case .unreadableTemporaryFile(let path):
            "the temporary file `\(path)` can't be read back; check the disk, or set TMPDIR to another folder"
        case .unwritableTemporaryFolder(let folder):
            "the temporary folder `\(folder)` can't be written; free space (about 250 bytes for each line), or set TMPDIR to another folder"
        case .database(let error): "\(error)"
        case .brokenPolicy(let version):
            "version \(version) of the policy, which promises refer to, can't be read from the database; run `tenure database check`"
        case .condition(let text, let why): "`\(text)` isn't a condition: \(why)"
        }
    }

    /// The path, or only its beginning if it is probably an artifact itself.
    private static func shortened(_ path: String) -> String {
        AppStoreArtifact.isProbable(inPlaceOfPath: path) ? String(path.prefix(20)) + "…" : path
    }
}
