import Foundation
import TenureCore

/// Which servers answer a request for a range with that range.
///
/// Nothing stops a background download that gets the whole file in answer to a range. So ranges are handed over only to a
/// server that has answered one with 206, and to none that has sent a whole file since.
final class RangeServers: Sendable {
    /// By origin: whether the last relevant answer was a range.
    private let known = Locked<[String: Bool]>([:])

    static func origin(of url: URL) -> String { "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)" }

    func servesRanges(_ url: URL) -> Bool { known.withLock { $0[Self.origin(of: url)] ?? false } }

    /// Notes that a server has answered a range with exactly that range.
    func noteRange(from url: URL) { known.withLock { $0[Self.origin(of: url)] = true } }

    /// Notes the result of a download that was handed over: by an earlier process, if nothing is known of its server.
    ///
    /// - Parameters:
    ///   - origin: of the URL that was handed over.
    ///   - status: of the response; nil without a response, or if the download hasn't ended.
    func noteHandedOver(_ origin: String, status: Int?) {
        known.withLock { known in
            if status == 200 { known[origin] = false } else if known[origin] == nil { known[origin] = true }
        }
    }
}
