import Foundation
import TenureCore
import TenureHTTP

/// A transport that fails, or runs a test's code, at a request that the test chooses.
final class ArrangedTransport: Transport {
    private struct State: Sendable {
        var ranges: [String] = []
        var statuses: [Int] = []
        var received = 0
        var cut: Int?
        var isDown = false
        var before: [Int: @Sendable () async throws -> Void] = [:]
    }

    private let state = Locked(State())

    /// Cuts the connection of the next request for a range after some bytes.
    func cut(after bytes: Int) { state.withLock { $0.cut = bytes } }

    /// Runs an action before the request for a range with this number, from 0.
    func before(_ request: Int, _ action: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.before[request] = action }
    }

    /// Lets no request for a range through.
    var isDown: Bool {
        get { state.withLock { $0.isDown } }
        set { state.withLock { $0.isDown = newValue } }
    }

    var ranges: [String] { state.withLock { $0.ranges } }
    /// The status codes of responses to requests for ranges.
    var statuses: [Int] { state.withLock { $0.statuses } }
    /// The received bytes of all ranges.
    var received: Int { state.withLock { $0.received } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        try await URLSessionTransport.shared.send(request)
    }

    func receive(
        _ request: TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws -> TransportResponse {
        guard let range = request.headers["Range"] else {
            return try await URLSessionTransport.shared.receive(request, accept: accept, body: body)
        }
        let (action, cut) = state.withLock { state in
            state.ranges.append(String(range.dropFirst("bytes=".count)))
            defer { state.cut = nil }
            return (state.before[state.ranges.count - 1], state.cut)
        }
        try await action?()
        if isDown { throw TransportFailure.connection(URLError(.notConnectedToInternet)) }
        var left = cut ?? .max
        let response = try await URLSessionTransport.shared.receive(request, accept: accept) { piece in
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
