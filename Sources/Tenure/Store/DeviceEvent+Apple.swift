import Foundation

#if canImport(UIKit) && !os(watchOS)
    import UIKit
#elseif canImport(WatchKit)
    import WatchKit
#elseif canImport(AppKit)
    import AppKit
#endif
#if canImport(Network)
    import Network
#endif

extension DeviceEvent {
    /// The events of the device on which the app runs. Linux has none.
    static func ofThisDevice() -> AsyncStream<DeviceEvent> {
        #if canImport(Network)
            let (stream, continuation) = AsyncStream.makeStream(
                of: DeviceEvent.self, bufferingPolicy: .bufferingNewest(3))
            let path = NetworkObserver { continuation.yield(.networkReturned) }
            let notifications = Task {
                await withTaskGroup(of: Void.self) { group in
                    for (name, event) in await names {
                        group.addTask {
                            for await _ in NotificationCenter.default.notifications(named: name).map({ _ in () }) {
                                continuation.yield(event)
                            }
                        }
                    }
                }
            }
            continuation.onTermination = { _ in
                path.stop()
                notifications.cancel()
            }
            return stream
        #else
            return AsyncStream { $0.finish() }
        #endif
    }

    #if canImport(Network)
        @MainActor private static var names: [(Notification.Name, DeviceEvent)] {
            #if canImport(UIKit) && !os(watchOS)
                [
                    (UIApplication.didBecomeActiveNotification, .appBecameActive),
                    (UIApplication.protectedDataDidBecomeAvailableNotification, .keychainUnlocked),
                ]
            #elseif canImport(WatchKit)
                [(WKExtension.applicationDidBecomeActiveNotification, .appBecameActive)]
            #elseif canImport(AppKit)
                [(NSApplication.didBecomeActiveNotification, .appBecameActive)]
            #else
                []
            #endif
        }
    #endif
}

#if canImport(Network)
    /// Calls back when the network returns after it was gone.
    ///
    /// Unchecked: `NWPathMonitor` may be used from any thread, which older SDKs do not declare.
    private final class NetworkObserver: @unchecked Sendable {
        private let monitor = NWPathMonitor()

        init(_ returned: @escaping @Sendable () -> Void) {
            let wasGone = Locked(false)
            monitor.pathUpdateHandler = { path in
                let isBack = wasGone.withLock { wasGone in
                    defer { wasGone = path.status != .satisfied }
                    return wasGone && path.status == .satisfied
                }
                if isBack { returned() }
            }
            monitor.start(queue: DispatchQueue(label: "tenure.network"))
        }

        func stop() { monitor.cancel() }
    }
#endif
