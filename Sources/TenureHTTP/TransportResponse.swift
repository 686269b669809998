package import Foundation

/// An HTTP response with its whole body.
package struct TransportResponse: Sendable, Hashable {
    package var status: Int
    /// The header fields, by lowercase name.
    private let headers: [String: String]
    package var body: Data

    /// Creates a response. The case of header names doesn't matter.
    package init(status: Int, headers: [String: String] = [:], body: Data) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
        self.body = body
    }

    /// Returns a header field. The case of its name is ignored.
    package func header(_ name: String) -> String? { headers[name.lowercased()] }
}
