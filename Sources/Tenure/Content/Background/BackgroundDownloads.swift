package import Foundation

/// Downloads that the system continues while the app is suspended or isn't running: a background `URLSession`, or a
/// test's substitute for a background session.
///
/// A download has a label that says which bytes of which pack it fetches. The process that gets the file needs the
/// label, because another process may have started the download.
package protocol BackgroundDownloads: Sendable {
    /// Connects this process to the system's downloads. `ended` is called for every download that ends, including the
    /// downloads that ended while no process was connected.
    ///
    /// - Parameters:
    ///   - ended: must move the downloaded file before it returns, because the system then deletes the file.
    ///   - delivered: called after `ended` was called for all downloads that ended while the app wasn't running.
    func connect(ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void)

    /// The downloads that haven't ended.
    func downloads() async -> [BackgroundStatus]

    /// Starts these downloads.
    func start(_ orders: [BackgroundOrder]) async

    /// Cancels the downloads with these labels.
    func cancel(_ labels: Set<String>) async

    /// Runs `body`, and asks the system not to suspend the app until `body` returns.
    func keepRunning(_ body: @escaping @Sendable () async -> Void) async
}

extension BackgroundDownloads {
    package func keepRunning(_ body: @escaping @Sendable () async -> Void) async { await body() }
}

/// A request to the system for one download.
package struct BackgroundOrder: Sendable, Hashable {
    /// The URL of the pack's archive, a file with all files of the pack.
    package let url: URL
    package let headers: [String: String]
    /// A string that identifies the download. Its status and its result repeat the label.
    package let label: String
    /// The expected size of the response's body, in bytes.
    let expectedSize: Int64
    /// Whether cellular networks and personal hotspots may be used.
    let allowsExpensiveNetwork: Bool
    /// Whether networks in Low Data Mode may be used.
    let allowsConstrainedNetwork: Bool
}

/// A download that hasn't ended.
package struct BackgroundStatus: Sendable, Hashable {
    let label: String
    /// The number of bytes of the body that were downloaded so far.
    let received: Int64
}

/// The result of a download.
package struct BackgroundResult: Sendable, Hashable {
    let label: String
    /// The status of the response. Nil if there was no response.
    var status: Int?
    /// The response's header `Content-Range`.
    var contentRange: String?
    /// The file with the response's body, whatever its status. Nil if the download failed.
    package var file: URL?
}

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
