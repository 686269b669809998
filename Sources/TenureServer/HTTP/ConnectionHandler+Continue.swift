import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The event that a route sends to the connection when it begins to read the body of a request.
struct BodyWanted {}

/// Status 100 (RFC 9110, section 10.1.1).
extension ConnectionHandler {
    /// Sends status 100 to a client that waits for it, when a route wants the body. If a request is refused before
    /// that, its client gets only the refusal.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if awaitsContinue {
            awaitsContinue = false
            // Until now the client waited for the service, so its time for the body begins now.
            resumedAt = .now()
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        promise?.succeed()
    }
}
