package import Foundation

/// An HTTP request and the limits for its response.
package struct TransportRequest: Sendable, Hashable {
    /// An `http` or `https` URL.
    package var url: URL
    package var method = "GET"
    package var headers: [String: String] = [:]
    package var body: Data?
    /// Seconds until the whole response has to be here.
    package var timeout: Double
    /// The most bytes that the body of the response may have, after decompression.
    package var bodyLimit: Int

    package init(_ url: URL, timeout: Double, bodyLimit: Int) {
        self.url = url
        self.timeout = timeout
        self.bodyLimit = bodyLimit
    }

    /// Makes this a `POST` of JSON.
    package mutating func post(json: Data) {
        method = "POST"
        headers["Content-Type"] = "application/json"
        body = json
    }
}
