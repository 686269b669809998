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
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { path in
                continuation.yield(
                    NetworkCondition(isExpensive: path.isExpensive, isConstrained: path.isConstrained))
            }

            monitor.start(queue: DispatchQueue(label: "tenure.content.network"))
            let kept = KeptMonitor(monitor)
            continuation.onTermination = { _ in kept.monitor.cancel() }
            return stream
        #else
            return AsyncStream { $0.finish() }
        #endif
    }
}

#if canImport(Network)
    /// Unchecked: `NWPathMonitor` may be used from any thread, but older SDKs don't declare it `Sendable`.
    private final class KeptMonitor: @unchecked Sendable {
        let monitor: NWPathMonitor

        init(_ monitor: NWPathMonitor) { self.monitor = monitor }
    }
#endif
