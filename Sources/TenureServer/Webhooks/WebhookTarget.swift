import Foundation
import TenureCore

/// The parsed URL to which a webhook's messages are sent.
struct WebhookTarget: Sendable, Hashable {
    /// Whether messages are sent over TLS.
    let isEncrypted: Bool
    /// The host in the URL, without brackets.
    let host: String
    let port: Int
    /// The path and query, which may hold a password of the receiver.
    var path: String { pathAndQuery.revealed }
    private let pathAndQuery: Secret<String>
    /// Whether the host may be in a private network, or on this machine without TLS.
    let allowsPrivate: Bool

    /// A mistake in a URL. Messages show the detail after the webhook's name.
    struct Mistake: Error {
        let detail: String
    }

    /// Parses and checks the URL. The addresses of the host are checked by `WebhookSender`, for each attempt.
    init(_ url: String, allowsPrivate: Bool) throws(Mistake) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty
        else { throw Mistake(detail: "the URL is invalid; write it as `https://example.com/path`") }
        switch scheme {
        case "https": isEncrypted = true
        case "http" where allowsPrivate: isEncrypted = false
        case "http":
            throw Mistake(
                detail: "the URL of `\(host)` has no TLS; use https, or `allowPrivate: true` for loopback")
        default: throw Mistake(detail: "the URL scheme `\(scheme)` isn't supported; use https")
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw Mistake(detail: "the URL has a user, a password or a fragment, which aren't sent; remove them")
        }
        // An IPv6 address is written in brackets.
        let isIPv6 = host.hasPrefix("[") && host.hasSuffix("]")
        let withoutBrackets = isIPv6 ? String(host.dropFirst().dropLast()) : host
        let isValid = withoutBrackets.allSatisfy { character in
            if isIPv6 { return character.isHexDigit || character == ":" || character == "." }
            return character.isASCII && (character.isLetter || character.isNumber || "-._".contains(character))
        }
        guard isValid else {
            throw Mistake(detail: "`\(host)` isn't a valid host name; write other alphabets as `xn--…`")
        }
        let port = parts.port ?? (isEncrypted ? 443 : 80)
        guard (1...65_535).contains(port) else {
            throw Mistake(detail: "`\(port)` isn't a valid port; use one from 1 to 65535")
        }
        self.host = withoutBrackets
        self.port = port
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        pathAndQuery = Secret(path + (parts.percentEncodedQuery.map { "?" + $0 } ?? ""))
        self.allowsPrivate = allowsPrivate
    }

    /// The `Host` header of the request.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? name : "\(name):\(port)"
    }
}
