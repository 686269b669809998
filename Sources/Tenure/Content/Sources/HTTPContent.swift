import Foundation
import TenureCore
import TenureHTTP

/// Delivers ranges of published files through the client's one transport.
final class HTTPContent: Sendable {
    let transport: any Transport
    /// Servers that have answered a range with 206.
    private let proven = Locked<Set<String>>([])

    init(_ transport: any Transport) { self.transport = transport }

    /// Whether the server of a URL has answered a range with exactly that range.
    func servesRanges(_ url: URL) -> Bool { proven.withLock { $0.contains(Self.origin(of: url)) } }

    private static func origin(of url: URL) -> String { "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)" }

    func fetch(
        _ url: URL, _ wanted: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void
    ) async throws {
        var request = TransportRequest(url, timeout: wanted.timeout, bodyLimit: wanted.range.count)
        request.allowsExpensiveNetwork = wanted.allowsExpensiveNetwork
        request.allowsConstrainedNetwork = wanted.allowsConstrainedNetwork
        let accept: @Sendable (TransportResponse) -> Bool
        if wanted.range == 0..<wanted.size {
            request.headers["Accept-Encoding"] = "identity"
            accept = { $0.status == 200 }
        } else {
            request.ask(for: wanted.range)
            let contentRange = Self.contentRange(wanted.range, of: wanted.size)
            let (origin, proven) = (Self.origin(of: url), proven)
            accept = { head in
                guard head.status == 206, head.header("Content-Range") == contentRange else { return false }
                proven.withLock { _ = $0.insert(origin) }
                return true
            }
        }
        let head: TransportResponse
        var received = 0
        do {
            head = try await transport.receive(request, accept: accept) { piece in
                received += piece.count
                try receive(.bytes(piece))
            }
        } catch let failure as TransportFailure {
            if case .canceled = failure { throw CancellationError() }
            throw Tenure.ContentSourceError.unavailable()
        }
        if accept(head) {
            guard received == wanted.range.count else { throw Tenure.ContentSourceError.unavailable() }
            return
        }
        switch head.status {
        case 401, 403: throw Tenure.ContentSourceError.refused
        case 404, 410: throw Tenure.ContentSourceError.missing
        default:
            throw Tenure.ContentSourceError.unavailable(retryAfter: head.retryAfter)
        }
    }

    /// The only `Content-Range` that answers a request for a range.
    static func contentRange(_ range: Range<Int64>, of size: Int64) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
    }
}

/// A source that has a URL for each file, so that the system can download it without the app.
protocol LinkedContentSource: Tenure.ContentSource {
    var http: HTTPContent { get }

    /// The URL of a file.
    func link(to request: Tenure.ContentRequest) async throws -> URL
}

extension LinkedContentSource {
    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) async throws {
        try await http.fetch(try await link(to: request), request, receive: receive)
    }
}
