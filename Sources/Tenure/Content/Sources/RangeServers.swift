import Foundation
import TenureCore

/// Remembers which servers answer a request for a range with only that range (status 206).
///
/// The app can't stop a background download if the server answers with the whole file. So background downloads use only
/// servers that answered the last request for a range with that range.
final class RangeServers: Sendable {
    /// Whether a server answered the last request for a range with only that range, by the server's origin.
    private let rangeSupport = Locked<[String: Bool]>([:])

    /// Returns the scheme, host and port of a URL, which identify the server.
    static func origin(of url: URL) -> String { "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)" }

    /// Whether the URL's server answered the last request for a range with only that range. False if no range was
    /// requested yet.
    func servesRanges(_ url: URL) -> Bool { rangeSupport.withLock { $0[Self.origin(of: url)] ?? false } }

    /// Records that a server has answered a request for a range with exactly that range.
    func noteRange(from url: URL) { rangeSupport.withLock { $0[Self.origin(of: url)] = true } }

    /// Records the result of a background download.
    ///
    /// If this process knows nothing about the server, an earlier process started the download. The server had answered
    /// that process with a range.
    ///
    /// - Parameters:
    ///   - origin: the origin of the download's URL.
    ///   - status: the status of the response. Nil if there was no response, or if the download hasn't ended.
    func noteBackgroundDownload(from origin: String, status: Int?) {
        rangeSupport.withLock { known in
            if status == 200 { known[origin] = false } else if known[origin] == nil { known[origin] = true }
        }
    }
}
