package import TenureStore

/// Why a rehearsal can't continue. Problems of a line are only counted.
package enum RehearsalError: Error, Sendable, Hashable {
    case unreadable(String)
    case folder(String)
    /// The evidence is compressed, and there is no `gzip` to read it.
    case noGzip(String)
    case damagedArchive
    /// The temporary folder isn't writable.
    case noRoom(String)
    case record(StoreError)
    /// A policy in the database can't be read, and promises are based on it.
    case brokenPolicy(Int64)
    /// An invalid condition of `--fail-if`.
    case condition(String, why: String)
}

extension RehearsalError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path): "`\(path)` cannot be read; check that it is there and who may read it"
        case .folder(let path): "`\(path)` is a folder; name the file that holds the lines"
        case .noGzip(let path):
            "`\(path)` is compressed and there is no `gzip` here to read it; install it, or decompress the file first"
        case .damagedArchive: "the compressed file is damaged or cut off: only the lines before that count"
        case .noRoom(let folder):
            "the temporary folder `\(folder)` cannot be written; make room there (about 250 bytes a line), or set TMPDIR to another"
        case .record(let error): "\(error)"
        case .brokenPolicy(let version):
            "version \(version) of the policy in the record cannot be read, and promises rest on it; run `tenure record check`"
        case .condition(let text, let why): "`\(text)` isn't a condition: \(why)"
        }
    }
}
