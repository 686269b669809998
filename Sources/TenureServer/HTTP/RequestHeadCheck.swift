import NIOCore
import NIOHTTP1

/// Rejects HTTP/1.1 requests without exactly one `Host` header (RFC 9112, section 3.2). If there were several, a proxy
/// and the service could use different hosts. Also rejects targets that aren't HTTP resources, and bodies without a
/// known end.
///
/// The check must see the original headers. So its place in the pipeline is after the decoder, and before the handler
/// that moves `Host` out of the headers.
final class RequestHeadCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Ignores everything after a rejected request.
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        guard Self.hasValidHost(head), Self.isTarget(head.uri, of: head.method), Self.hasKnownEnd(head) else {
            isRefused = true
            // The server answers with 400 after the responses to earlier requests, and closes the connection.
            return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
        // Hummingbird closes the connection only if the header is exactly `close`.
        if Self.endsConnection(head) { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        // A client of HTTP/1.0 would take `100 Continue` for the response (RFC 9110, section 10.1.1).
        if Self.isBeforeHTTP11(head) { head.headers.remove(name: "Expect") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Whether the connection closes after the response (RFC 9112, section 9.3). The options of `Connection` are a
    /// list, and are compared without case.
    private static func endsConnection(_ head: HTTPRequestHead) -> Bool {
        let options = head.headers[canonicalForm: "Connection"].map { $0.lowercased() }
        return options.contains("close") || isBeforeHTTP11(head) && !options.contains("keep-alive")
    }

    /// Whether the request has exactly one valid `Host` header. HTTP/1.0 doesn't require one.
    private static func hasValidHost(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        guard let host = hosts.first else { return isBeforeHTTP11(head) }
        return hosts.count == 1 && host.utf8.allSatisfy(isAllowed)
    }

    private static func isBeforeHTTP11(_ head: HTTPRequestHead) -> Bool {
        (head.version.major, head.version.minor) < (1, 1)
    }

    /// Whether the end of the body can be known: `Transfer-Encoding` ends with `chunked`, or is absent. Otherwise a
    /// proxy and the service could disagree on where the next request begins, which allows request smuggling (RFC 9112,
    /// sections 6.3 and 11.2).
    private static func hasKnownEnd(_ head: HTTPRequestHead) -> Bool {
        guard let codings = head.headers["Transfer-Encoding"].last else { return true }
        // RFC 9112, section 6.1: a proxy of HTTP/1.0 doesn't know the header.
        if isBeforeHTTP11(head) { return false }
        let last = codings.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        let words = last.split { $0 == " " || $0 == "\t" }
        return words.count == 1 && words[0].allSatisfy(\.isASCII) && words[0].lowercased() == "chunked"
    }

    /// Whether the request's target is a path, an `http` or `https` URL with a host, or for OPTIONS `*` (RFC 9112,
    /// section 3.2).
    private static func isTarget(_ target: String, of method: HTTPMethod) -> Bool {
        if target.hasPrefix("/") || target == "*" && method == .OPTIONS { return true }
        // Schemes are compared without case (RFC 9110, section 4.2.3).
        let lowercased = target.prefix(8).lowercased()
        guard let scheme = ["http://", "https://"].first(where: lowercased.hasPrefix) else { return false }
        let host = target.utf8.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
        return !host.isEmpty && host.allSatisfy(isAllowed)
    }

    /// Whether a host and a port may contain the byte (RFC 3986, section 3.2). `@` isn't allowed, because a user name
    /// before the host is deprecated (RFC 9110, section 4.2.4).
    private static func isAllowed(_ byte: UInt8) -> Bool { byte.isUnreserved || "%!$&'()*+;=:[]".utf8.contains(byte) }
}

/// Inserts a `RequestHeadCheck` after the decoder. Hummingbird adds the service's handlers only after the handler that
/// moves `Host` out of the headers, where the check would be too late.
final class RequestHeadCheckInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestHeadCheck(), position: .after(decoder))
        } catch {
            // There is always a decoder, because Hummingbird adds it first. Without the check, no request may pass.
            context.close(promise: nil)
        }
    }
}
