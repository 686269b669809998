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
    import TenureCore
#endif

/// Observes events of the app and the network on Apple's platforms, after which the client reads sources again.
extension DeviceEvent {
    /// The events of the device on which the app runs. On Linux there are no such events.
    static func ofThisDevice() -> AsyncStream<DeviceEvent> {
        #if canImport(Network)
            let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream(bufferingPolicy: .bufferingNewest(3))
            let wasUnavailable = Locked(false)
            let network = NetworkObserver { path in
                let isAvailable = path.status == .satisfied
                if wasUnavailable.exchange(!isAvailable), isAvailable { continuation.yield(.networkReturned) }
            }
            let notifications = NotificationObserver()
            // UIKit and AppKit declare the notifications' names in classes that are isolated to the main actor.
            let subscribing = Task { @MainActor in
                for (name, event) in names { notifications.observe(name) { continuation.yield(event) } }
            }
            continuation.onTermination = { _ in
                subscribing.cancel()
                network.stop()
                notifications.stop()
            }
            return stream
        #else
            return AsyncStream { $0.finish() }
        #endif
    }

    #if canImport(Network)
        /// The system's notifications that are events of the device.
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
    private final class NotificationObserver: Sendable {
        /// Unchecked: `NotificationCenter` returns tokens that aren't declared `Sendable`, but any thread may remove an
        /// observer.
        private struct State: @unchecked Sendable {
            var tokens: [any NSObjectProtocol] = []
            var isStopped = false
        }

        private let state = Locked(State())

        func observe(_ name: Notification.Name, _ occurred: @escaping @Sendable () -> Void) {
            state.withLock { state in
                guard !state.isStopped else { return }
                state.tokens.append(
                    NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in occurred() })
            }
        }

        func stop() {
            for token in state.exchange(State(isStopped: true)).tokens {
                NotificationCenter.default.removeObserver(token)
            }
        }
    }
#endif
