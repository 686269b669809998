import Hummingbird

/// What belongs to one request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection: the client, or a proxy.
    let socket: NetworkAddress?
    /// Who asks; `AccessMiddleware` finds it out.
    var peer: Peer?

    init(source: Source) {
        coreContext = .init(source: source)
        socket = NetworkAddress(source.channel.remoteAddress)
    }
}
