package import Foundation

/// An HTTP request and the limits for its response.
package struct TransportRequest: Sendable, Hashable {
    /// An `http` or `https` URL.
    package var url: URL
    var method = "GET"
    package var headers: [String: String] = [:]
    package var body: Data?
    /// Seconds until the whole response has to be here. For `Transport.receive`, seconds without a byte of it.
    var timeout: Double
    /// The most bytes that the body of the response may have, after decompression.
    var bodyLimit: Int
    /// Whether cellular networks and personal hotspots may carry it. Linux doesn't know which networks these are.
    package var allowsExpensiveNetwork = true
    /// Whether networks in Low Data Mode may carry it.
    package var allowsConstrainedNetwork = true

    package init(_ url: URL, timeout: Double, bodyLimit: Int) {
        self.url = url
        self.timeout = timeout
        self.bodyLimit = bodyLimit
    }

    /// Asks for a part of the file behind the URL, as it is: a range counts the bytes of an encoding, if there is one.
    package mutating func ask(for range: Range<Int64>) {
        headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        headers["Accept-Encoding"] = "identity"
    }

    /// Makes this a `POST` of JSON.
    package mutating func post(json: Data) {
        method = "POST"
        headers["Content-Type"] = "application/json"
        body = json
    }
}
