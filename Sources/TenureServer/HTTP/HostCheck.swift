import NIOCore
import NIOHTTP1

/// Refuses a request of HTTP/1.1 without exactly one `Host`, as RFC 9112, section 3.2, demands: proxies and servers that
/// choose different ones of several send a request to different places.
///
/// It must see the headers as they came, so it puts itself behind the decoder, before the handler that makes `Host` a
/// part of the request.
final class HostCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Ignores everything after a request with an unknown recipient.
        guard !isRefused else { return }
        if case .head(let head) = unwrapInboundIn(data), !Self.isSound(head) {
            isRefused = true
            // Answered with 400 after the requests before it; then the connection ends.
            return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
        context.fireChannelRead(data)
    }

    private static func isSound(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        guard let host = hosts.first else { return (head.version.major, head.version.minor) < (1, 1) }
        return hosts.count == 1 && host.utf8.allSatisfy(isAllowed)
    }

    /// RFC 3986, section 3.2: a host and a port, without a user.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~%!$&'()*+;=:[]".utf8.contains(byte)
        }
    }
}

/// Puts a `HostCheck` where it belongs: handlers of ours are added behind the one that it must precede.
final class HostCheckInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(HostCheck(), position: .after(decoder))
        } catch {
            // Never: Hummingbird adds the decoder first. Without the check no request may pass.
            context.close(promise: nil)
        }
    }
}
