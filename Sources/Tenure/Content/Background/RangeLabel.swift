import Foundation

/// The version and the range of a background download.
struct RangeLabel: Codable, Sendable, Hashable {
    let pack: String
    /// The digest of the manifest.
    let version: String
    let lower: Int64
    let upper: Int64
    /// Of the archive, in bytes.
    let size: Int64
    /// Of the URL: see `RangeServers`. A later process knows from it that the server has answered a range with 206.
    let origin: String

    var range: Range<Int64> { lower..<max(lower, upper) }

    /// JSON, the same for the same range.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    init(pack: String, version: String, range: Range<Int64>, size: Int64, origin: String) {
        self.pack = pack
        self.version = version
        lower = range.lowerBound
        upper = range.upperBound
        self.size = size
        self.origin = origin
    }

    /// Nil for a label that this library didn't write.
    init?(_ text: String) {
        guard let label = try? JSONDecoder().decode(RangeLabel.self, from: Data(text.utf8)), 0 <= label.lower,
            label.lower < label.upper, label.upper <= label.size
        else { return nil }
        self = label
    }
}
