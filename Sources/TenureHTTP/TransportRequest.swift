package import Foundation

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
