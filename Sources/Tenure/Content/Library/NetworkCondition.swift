import Foundation

#if canImport(Network)
    import Network
#endif

/// What kind of network the device has.
struct NetworkCondition: Sendable, Hashable {
    /// Cellular, or a personal hotspot.
    var isExpensive = false
    /// Low Data Mode.
    var isConstrained = false

    /// The condition now and after every change. On Linux, the stream is empty.
    static func ofThisDevice() -> AsyncStream<NetworkCondition> {
        #if canImport(Network)
            let (stream, continuation) = AsyncStream.makeStream(
                of: NetworkCondition.self, bufferingPolicy: .bufferingNewest(1))
            let network = NetworkObserver { path in
                continuation.yield(NetworkCondition(isExpensive: path.isExpensive, isConstrained: path.isConstrained))
            }
            continuation.onTermination = { _ in network.stop() }
            return stream
        #else
            return AsyncStream { $0.finish() }
        #endif
    }
}
