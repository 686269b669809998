import Foundation
import TenureCore
import TenureHTTP

/// Downloads ranges of published files with the client's HTTP transport.
final class HTTPContent: Sendable {
    let transport: any Transport
    private let servers: RangeServers
    private let log: Tenure.Log
    /// The origins of servers for which the log already says why downloads wait.
    private let logged = Locked<Set<String>>([])

    init(_ transport: any Transport, servers: RangeServers, log: Tenure.Log) {
        self.transport = transport
        self.servers = servers
        self.log = log
    }

    /// Downloads a range of a file. Throws `ContentSourceError`, `CancellationError`, or an error of `receive`.
    func fetch(
        _ url: URL, _ wanted: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void
    ) async throws {
        var request = TransportRequest(url, timeout: wanted.timeout, bodyLimit: wanted.range.count)
        request.allowsExpensiveNetwork = wanted.allowsExpensiveNetwork
        request.allowsConstrainedNetwork = wanted.allowsConstrainedNetwork
        // The body is read only if the response has the expected status: 200 for a whole file, and 206 with exactly the
        // wanted range for a part.
        let accept: @Sendable (TransportResponse) -> Bool
        if wanted.range == 0..<wanted.size {
            request.headers["Accept-Encoding"] = "identity"
            accept = { $0.status == 200 }
        } else {
            request.setRange(wanted.range)
            let contentRange = Self.contentRange(wanted.range, of: wanted.size)
            let servers = servers
            accept = { head in
                guard head.status == 206, head.header("Content-Range") == contentRange else { return false }
                servers.noteRange(from: url)
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
        logServerProblem(head.status, of: url)
        switch head.status {
        case 401, 403: throw Tenure.ContentSourceError.refused
        case 404, 410: throw Tenure.ContentSourceError.missing
        default: throw Tenure.ContentSourceError.unavailable(retryAfter: head.retryAfter)
        }
    }

    /// Logs once for each server why downloads wait, if a setting of the server is the cause.
    private func logServerProblem(_ status: Int, of url: URL) {
        let problem: String
        switch status {
        case 200:
            problem = "answers a range request with the whole file; use a server that supports HTTP range requests"
        case 300..<400:
            problem = "redirects downloads, which Tenure doesn't follow; use the URL of the server that has the files"
        default: return
        }
        let origin = RangeServers.origin(of: url)
        guard logged.withLock({ $0.insert(origin).inserted }) else { return }
        log.error("\(origin) \(problem)")
    }

    /// The only `Content-Range` that answers a request for a range.
    static func contentRange(_ range: Range<Int64>, of size: Int64) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
    }
}

/// A source with a URL for each file, so that the system can download the file while the app isn't running.
protocol LinkedContentSource: Tenure.ContentSource {
    var http: HTTPContent { get }

    /// The URL of a file.
    func link(to request: Tenure.ContentRequest) async throws -> URL
}

extension LinkedContentSource {
    /// Does nothing, because these sources keep no copy of a pack on the device.
    func remove(_ pack: String) {}

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) async throws {
        try await http.fetch(try await link(to: request), request, receive: receive)
    }
}
