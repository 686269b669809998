import HTTPTypes
import Hummingbird

/// Who sent a request, as far as anybody whom the operator trusts says so.
struct Peer: Sendable, Hashable {
    /// The client's address; nil without a socket.
    let address: NetworkAddress?
    /// The request came from this machine, and no proxy is known to have passed it on.
    let isLocal: Bool
    /// Whether the socket's other end is a declared proxy, so that its headers about the client count.
    let isBehindProxy: Bool

    /// A list in which each proxy adds at the right whom it heard. Everything left of the right-most address that is
    /// no declared proxy is what a client claims.
    init(socket: NetworkAddress?, headers: HTTPFields, proxies: [AddressBlock]) {
        guard let socket, proxies.contains(where: { $0.contains(socket) }) else {
            address = socket
            isBehindProxy = false
            // An undeclared proxy on this machine would make the whole world local.
            isLocal = socket?.isLoopback == true && !Self.isForwarded(headers)
            return
        }
        isBehindProxy = true
        isLocal = false
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

    /// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`.
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
