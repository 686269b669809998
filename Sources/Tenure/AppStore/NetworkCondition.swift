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
            let (stream, continuation) = AsyncStream<NetworkCondition>.makeStream(bufferingPolicy: .bufferingNewest(1))
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

#if canImport(Network)
    /// Calls its closure with the network's condition, now and after every change.
    ///
    /// Unchecked: `NWPathMonitor` may be used from any thread, but older SDKs don't declare it `Sendable`.
    final class NetworkObserver: @unchecked Sendable {
        private let monitor = NWPathMonitor()

        init(_ changed: @escaping @Sendable (NWPath) -> Void) {
            monitor.pathUpdateHandler = changed
            monitor.start(queue: DispatchQueue(label: "tenure.network"))
        }

        func stop() { monitor.cancel() }
    }
#endif
