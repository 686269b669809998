package import Foundation
import TenureCore
package import TenureHTTP

/// The usual transport. It can fail, be slow, or run a test's code before a chosen request for a range.
package final class ArrangedTransport: Transport {
    private struct State: Sendable {
        var requests: [TransportRequest] = []
        var statuses: [Int] = []
        var received = 0
        var cut: Int?
        var isDown = false
        var before: [Int: @Sendable () async throws -> Void] = [:]
    }

    private let state = Locked(State())
    /// The delay of each received piece in microseconds, as if the caller had a slow disk.
    private let delay: UInt32

    package init(delay: UInt32 = 0) { self.delay = delay }

    /// Cuts the connection of the next request for a range after some bytes.
    package func cut(after bytes: Int) { state.withLock { $0.cut = bytes } }

    /// Runs an action before the request for a range with this number, from 0.
    package func before(_ request: Int, _ action: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.before[request] = action }
    }

    /// Whether all requests for ranges fail.
    package var isDown: Bool {
        get { state.withLock { $0.isDown } }
        set { state.withLock { $0.isDown = newValue } }
    }

    /// The requests for ranges.
    package var requests: [TransportRequest] { state.withLock { $0.requests } }
    package func forget() { state.withLock { $0.requests = [] } }
    /// The status codes of responses to requests for ranges.
    package var statuses: [Int] { state.withLock { $0.statuses } }
    /// The received bytes of all ranges.
    package var received: Int { state.withLock { $0.received } }

    package func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        try await URLSessionTransport.shared.send(request)
    }

    package func receive(
        _ request: TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws -> TransportResponse {
        guard request.headers["Range"] != nil else {
            return try await URLSessionTransport.shared.receive(request, accept: accept, body: body)
        }
        let (action, cut) = state.withLock { state in
            state.requests.append(request)
            defer { state.cut = nil }
            return (state.before[state.requests.count - 1], state.cut)
        }
        try await action?()
        if isDown { throw TransportFailure.connection(URLError(.notConnectedToInternet)) }
        var left = cut ?? .max
        let response = try await URLSessionTransport.shared.receive(request, accept: accept) { piece in
            if delay > 0 { usleep(delay) }
            let part = piece.prefix(left)
            left -= part.count
            state.withLock { $0.received += part.count }
            try body(Data(part))
            if left == 0 { throw TransportFailure.connection(URLError(.networkConnectionLost)) }
        }
        state.withLock { $0.statuses.append(response.status) }
        return response
    }
}
