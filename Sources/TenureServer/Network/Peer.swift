import HTTPTypes

/// The client that sent a request, as far as the socket and the headers of declared proxies show. Declared proxies are
/// those in the configuration.
struct Peer: Sendable, Hashable {
    /// The client's address; nil if the connection has no IP address.
    let address: NetworkAddress?
    /// Whether the request came from this machine, and neither from a declared proxy nor with a proxy's headers.
    let isLocal: Bool
    /// Whether the request came from a declared proxy, so that the service trusts its headers about the client.
    let isBehindProxy: Bool

    /// Finds the client of a request. If a declared proxy sent the request, reads `X-Forwarded-For`.
    ///
    /// Each proxy appends the address from which it received the request to the list in `X-Forwarded-For`. So the last
    /// address that isn't a declared proxy is the client. Whatever comes before it may be forged by the client.
    init(socket: NetworkAddress?, headers: HTTPFields, proxies: [AddressBlock]) {
        guard let socket, proxies.contains(where: { $0.contains(socket) }) else {
            address = socket
            isBehindProxy = false
            // Behind an undeclared proxy on this machine, the requests of all clients come from loopback. So requests
            // with a proxy's headers aren't treated as local.
            isLocal = socket?.isLoopback == true && !Self.isForwarded(headers)
            return
        }
        isBehindProxy = true
        isLocal = false
        // Reads the list from its end, up to the first entry that isn't a declared proxy. If that entry isn't an
        // address, the proxy after it counts as the client.
        var address = socket
        if let field = Self.forwardedFor {
            search: for value in headers[values: field].reversed() {
                for part in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                    guard let hop = Self.address(in: part) else { break search }
                    address = hop
                    guard proxies.contains(where: { $0.contains(hop) }) else { break search }
                }
            }
        }
        self.address = address
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")
    private static let forwarded = HTTPField.Name("Forwarded")

    private static func isForwarded(_ headers: HTTPFields) -> Bool {
        [forwardedFor, forwarded].contains { name in name.map { headers[$0] != nil } ?? false }
    }

    /// Parses `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` and `[2001:db8::1]:4711`.
    private static func address(in part: Substring) -> NetworkAddress? {
        var text = part[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = text[text.index(after: text.startIndex)..<end]
        } else if text.contains("."), let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            text = text[..<colon]
        }
        return NetworkAddress(String(text))
    }
}
