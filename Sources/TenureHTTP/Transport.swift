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

/// An HTTP request and the limits for its response.
package struct TransportRequest: Sendable, Hashable {
    /// An `http` or `https` URL.
    package var url: URL
    var method = "GET"
    package var headers: [String: String] = [:]
    package var body: Data?
    /// The seconds within which the whole response must be received. For `Transport.receive`, the seconds without a
    /// received byte after which the request fails.
    var timeout: Double
    /// The maximum number of bytes of the response's body, after decompression.
    var bodyLimit: Int
    /// Whether the request may use cellular networks and personal hotspots. This setting has no effect on Linux.
    package var allowsExpensiveNetwork = true
    /// Whether the request may use networks in Low Data Mode.
    package var allowsConstrainedNetwork = true

    /// Creates a GET request.
    package init(_ url: URL, timeout: Double, bodyLimit: Int) {
        self.url = url
        self.timeout = timeout
        self.bodyLimit = bodyLimit
    }

    /// Requests a range of the file at the URL. Also requests no compression: otherwise the range would be a range of
    /// compressed bytes.
    package mutating func setRange(_ range: Range<Int64>) {
        headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        headers["Accept-Encoding"] = "identity"
    }

    /// Changes the request to a `POST` of JSON.
    package mutating func post(json: Data) {
        method = "POST"
        headers["Content-Type"] = "application/json"
        body = json
    }
}

/// An HTTP response. `Transport.receive` returns a response without its body.
package struct TransportResponse: Sendable, Hashable {
    package var status: Int
    /// The header fields, by lowercase name.
    private let headers: [String: String]
    package var body: Data

    /// Creates a response. Header names are compared without their case; of two equal names, only one value is kept.
    package init(status: Int, headers: [String: String] = [:], body: Data) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
        self.body = body
    }

    /// Returns the value of a header field; nil if the response doesn't have the field. The case of the name is
    /// ignored.
    package func header(_ name: String) -> String? { headers[name.lowercased()] }
}

/// Why a request has no response.
package enum TransportFailure: Error, Sendable, Hashable {
    /// The server can't be reached, or the connection was lost.
    case connection(URLError)
    /// The response wasn't received in time: see `TransportRequest.timeout`.
    case timedOut(seconds: Double)
    /// The body of the response has more bytes than the `bodyLimit` of the request.
    case bodyTooLarge(limit: Int)
    /// The task that sent the request was canceled.
    case canceled

    /// The corresponding error of Foundation.
    package var urlError: URLError {
        switch self {
        case .connection(let error): error
        case .timedOut: URLError(.timedOut)
        case .bodyTooLarge: URLError(.dataLengthExceedsMaximum)
        case .canceled: URLError(.cancelled)
        }
    }
}

extension TransportFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connection(let error): error.localizedDescription
        case .timedOut(let seconds): "no response within \(seconds) seconds"
        case .bodyTooLarge(let limit): "the response has more than \(limit) bytes"
        case .canceled: "the request was canceled"
        }
    }
}
