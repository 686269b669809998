import TenureFiles

/// A range of a pack's archive (one file with all files of the pack) that the system has downloaded for the app. It is
/// stored as `partial/ranges/LOWER-UPPER`.
///
/// The system delivers ranges in any order. A pack's file is written only from its start to its end, so a range is
/// stored separately until the bytes before it are written.
struct ArrivedRange: Sendable, Hashable {
    /// The range of the archive, in bytes.
    let range: Range<Int64>
    /// The file with the bytes of the range.
    let path: String

    /// The folder of all ranges of a download that is in progress.
    static func folder(in partialFolder: String) -> String { partialFolder + "/ranges" }

    /// The path at which a range of the archive is stored.
    static func path(of range: Range<Int64>, in partialFolder: String) -> String {
        "\(folder(in: partialFolder))/\(range.lowerBound)-\(range.upperBound)"
    }

    /// Returns the ranges in the folder of a partly downloaded pack, in order. Leaves out incomplete files.
    static func all(in partialFolder: String, of archiveSize: Int64) -> [ArrivedRange] {
        Disk.names(in: folder(in: partialFolder)).compactMap { name in
            let bounds = name.split(separator: "-").compactMap { Int64($0) }
            guard bounds.count == 2, 0 <= bounds[0], bounds[0] < bounds[1], bounds[1] <= archiveSize else { return nil }
            let range = bounds[0]..<bounds[1]
            let arrived = ArrivedRange(range: range, path: path(of: range, in: partialFolder))
            return FileStatus(path: arrived.path)?.size == Int64(range.count) ? arrived : nil
        }.sorted { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
    }
}
