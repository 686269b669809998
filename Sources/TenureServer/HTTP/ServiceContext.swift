import Hummingbird
import NIOCore

/// The values that belong to one request, in addition to the request itself. Middleware sets some of them for the
/// routes.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the connection's other end: the client, or a proxy. Nil for a connection without an address.
    let remoteAddress: NetworkAddress?
    /// The connection.
    let channel: any Channel
    /// The client that sent the request; nil until `AccessMiddleware` sets it.
    var peer: Peer?
    /// The part of the client's path before the app's path: `/apps/NAME`, or nothing. Paths in responses begin with it.
    var pathPrefix = ""
    /// The memory for request bodies.
    var bodies = BodyBudget.process
    /// The request's ID in the log and the response. Hummingbird's own property `id` reads the ID from the logger's
    /// metadata, and traps if the metadata has no ID, as in a logger that discards everything.
    var requestID: String

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
        remoteAddress = NetworkAddress(source.channel.remoteAddress)
        requestID = RequestID.id(in: source.logger) ?? RequestID.makeID()
    }
}

/// A middleware of the service's routers.
protocol ServiceMiddleware: RouterMiddleware where Context == ServiceContext {
    /// Passes the request on to the next middleware or to the route.
    typealias Next = (Request, ServiceContext) async throws -> Response
}
