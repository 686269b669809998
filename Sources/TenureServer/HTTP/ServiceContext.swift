import Hummingbird
import NIOCore

/// What belongs to one request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection: the client, or a proxy.
    let socket: NetworkAddress?
    /// The connection.
    let channel: any Channel
    /// Who asks; `AccessMiddleware` finds it out.
    var peer: Peer?
    /// Before the request's path, where the client wrote more: `/apps/NAME`.
    var pathPrefix = ""
    /// The memory for request bodies.
    var bodies = BodyBudget.process
    /// What the log and the answer call the request. Hummingbird's own `id` is what the logger remembers of it, and traps
    /// where that remembers nothing, as a logger without a handler.
    var requestID: String

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
        socket = NetworkAddress(source.channel.remoteAddress)
        requestID = RequestID.known(to: source.logger) ?? RequestID.made()
    }
}
