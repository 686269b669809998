package import Foundation

/// An HTTP response. `Transport.receive` returns a response without its body.
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

    /// Returns the value of a header field; nil if the response doesn't have the field. The case of the name is
    /// ignored.
    package func header(_ name: String) -> String? { headers[name.lowercased()] }
}
