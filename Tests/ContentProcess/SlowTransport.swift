import Foundation
import TenureHTTP

/// A transport that delays each piece, as a caller with a slow disk does.
struct SlowTransport: Transport {
    /// The delay of each piece, in microseconds.
    let delay: UInt32

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        try await URLSessionTransport.shared.send(request)
    }

    func receive(
        _ request: TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws -> TransportResponse {
        try await URLSessionTransport.shared.receive(request, accept: accept) { piece in
            usleep(delay)
            try body(piece)
        }
    }
}
