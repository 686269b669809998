package import Foundation

/// Sends HTTP requests. The library `Tenure` in an app, and this package's replacement of StoreKit on Linux, use the
/// network only through this protocol.
///
/// An implementation sends each request only to its URL. It follows no redirects, sends and stores no cookies, and uses
/// no cache. A status such as 302 or 404 is a response, not an error.
package protocol Transport: Sendable {
    /// Sends a request and returns the whole response.
    ///
    /// Returns promptly when the current task is canceled, and closes the connection.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse

    /// Sends a request and delivers the body of the response in pieces, in order.
    ///
    /// Received bytes are kept in memory until the caller takes them, at most the `bodyLimit` of the request. So a
    /// caller that may be slower than the network should request ranges. Returns promptly when the current task is
    /// canceled.
    ///
    /// - Parameters:
    ///   - accept: Called once with the status and the header fields, before the body. If it returns false, the
    ///     connection is closed, and no body is delivered.
    ///   - body: Called with each piece. If it throws, the connection is closed.
    /// - Returns: The status and the header fields, without the body.
    /// - Throws: `TransportFailure`, or the error of `body`.
    func receive(
        _ request: TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws -> TransportResponse
}

extension Transport {
    /// The default implementation, which delivers the body in one piece.
    package func receive(
        _ request: TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws -> TransportResponse {
        var response = try await send(request)
        let bytes = response.body
        response.body = Data()
        if accept(response), !bytes.isEmpty { try body(bytes) }
        return response
    }
}
