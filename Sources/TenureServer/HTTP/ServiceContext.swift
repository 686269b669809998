import Hummingbird

/// What belongs to one request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// From which the request came, as far as the socket tells.
    let address: String?

    init(source: Source) {
        coreContext = .init(source: source)
        address = source.channel.remoteAddress?.ipAddress
    }
}
