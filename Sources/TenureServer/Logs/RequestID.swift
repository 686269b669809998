import HTTPTypes
import Hummingbird
import Logging

/// The ID of a request, in logs and in the header `X-Request-Id` of the response.
enum RequestID {
    static let field = HTTPField.Name("X-Request-Id")

    /// Hummingbird's key for the ID in a logger's metadata.
    static let metadataKey = "hb.request.id"

    /// The ID in a logger's metadata; nil if it has none.
    static func id(in logger: Logger) -> String? { logger[metadataKey: metadataKey]?.description }

    static func makeID() -> String { Hummingbird.RequestID().description }

    /// Returns the ID in the header of a request that a proxy in the configuration sent; nil for other requests. An ID
    /// has 1 to 64 letters, digits, `-`, `.` and `_`. Nil without such an ID.
    static func idFromProxy(of request: Request, from peer: Peer) -> String? {
        guard peer.isBehindProxy, let field, let text = request.headers[field], (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isUnreserved && $0 != UInt8(ascii: "~") })
        else { return nil }
        return text
    }
}
