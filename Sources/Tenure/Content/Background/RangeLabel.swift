import Foundation

/// The label of a background download, which says what it fetches: a range of the archive (one file with all files of a
/// pack) of a pack's version.
struct RangeLabel: Codable, Sendable, Hashable {
    let pack: String
    /// The digest of the version's manifest, which is the list of its files.
    let version: String
    /// The bounds of the range in the archive, in bytes. The range doesn't contain `upper`.
    let lower: Int64
    let upper: Int64
    /// The size of the archive, in bytes.
    let size: Int64
    /// The scheme, host and port of the URL. Background downloads start only on servers that answered a request for a
    /// range with status 206. So the label tells a later process that this server did so: see `RangeServers`.
    let origin: String
}

extension RangeLabel {
    var range: Range<Int64> { lower..<max(lower, upper) }

    /// The label as JSON. Equal labels give equal strings.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    init(pack: String, version: String, range: Range<Int64>, size: Int64, origin: String) {
        self.init(
            pack: pack, version: version, lower: range.lowerBound, upper: range.upperBound, size: size, origin: origin)
    }

    /// Reads a label. Nil if Tenure didn't write it.
    init?(_ text: String) {
        guard let label = try? JSONDecoder().decode(RangeLabel.self, from: Data(text.utf8)), 0 <= label.lower,
            label.lower < label.upper, label.upper <= label.size
        else { return nil }
        self = label
    }
}
