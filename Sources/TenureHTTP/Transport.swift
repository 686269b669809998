/// Sends HTTP requests: the only way in which the client, and StoreKit on Linux, use the network.
///
/// An implementation sends each request to its URL and nowhere else. It follows no redirect, sends and stores no
/// cookies, and reads no cache. A status such as 302 or 404 is a response, not an error.
package protocol Transport: Sendable {
    /// Sends a request and returns the whole response.
    ///
    /// Returns promptly when the current task is canceled, and closes the connection.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse
}
