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
    import TenureHTTP
#endif

extension DeviceEvent {
    /// The events of the device on which the app runs. Linux has none.
    static func ofThisDevice() -> AsyncStream<DeviceEvent> {
        #if canImport(Network)
            let (stream, continuation) = AsyncStream.makeStream(
                of: DeviceEvent.self, bufferingPolicy: .bufferingNewest(3))
            let path = NetworkObserver { continuation.yield(.networkReturned) }
            let notifications = NotificationObserver()
            // The names belong to classes of the main actor.
            let subscribing = Task { @MainActor in
                for (name, event) in names { notifications.observe(name) { continuation.yield(event) } }
            }
            continuation.onTermination = { _ in
                subscribing.cancel()
                path.stop()
                notifications.stop()
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
                    (UIApplication.didEnterBackgroundNotification, .appEnteredBackground),
                    (UIApplication.protectedDataDidBecomeAvailableNotification, .keychainUnlocked),
                ]
            #elseif canImport(WatchKit)
                [
                    (WKExtension.applicationDidBecomeActiveNotification, .appBecameActive),
                    (WKExtension.applicationDidEnterBackgroundNotification, .appEnteredBackground),
                ]
            #elseif canImport(AppKit)
                [(NSApplication.didBecomeActiveNotification, .appBecameActive)]
            #else
                []
            #endif
        }
    #endif
}

#if canImport(Network)
    /// Observes notifications until it is stopped.
    ///
    /// Unchecked: the lock guards all state, and NotificationCenter, which gets the tokens back, may be used from any thread.
    private final class NotificationObserver: @unchecked Sendable {
        private let lock = NSLock()
        private var tokens: [any NSObjectProtocol] = []
        private var isStopped = false

        func observe(_ name: Notification.Name, _ occurred: @escaping @Sendable () -> Void) {
            lock.withLock {
                guard !isStopped else { return }
                tokens.append(
                    NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in occurred() })
            }
        }

        func stop() {
            let tokens = lock.withLock {
                isStopped = true
                defer { self.tokens = [] }
                return self.tokens
            }
            for token in tokens { NotificationCenter.default.removeObserver(token) }
        }
    }

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
