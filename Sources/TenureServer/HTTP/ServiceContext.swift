import Hummingbird

/// What belongs to one request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    init(source: Source) {
        coreContext = .init(source: source)
    }
}
