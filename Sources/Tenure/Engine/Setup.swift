package import Foundation
import TenureCore
package import TenureHTTP

/// Everything the client depends on, so that tests can replace each part.
package struct Setup: Sendable {
    package var access: any AppStoreAccess
    /// Where the state is stored.
    var location: StateLocation
    /// What kind of process this is.
    var host: HostProcess
    /// The policy with which the device decides by itself; nil if it only asks the service.
    package var policy: Tenure.PolicySource?
    package var service: ServiceConnection?
    package var keys: [Tenure.ServiceKey] = []
    /// The offline root, which is trusted instead of the keys.
    var root: Tenure.ServiceKey?
    package var options = Tenure.Options()
    /// Reports proofs to the service, and gates nothing.
    var isListening = false
    package var clock: @Sendable () -> Date = { Date() }
    /// Waits between attempts and between days. Ends early only if its task is canceled.
    package var sleep: @Sendable (_ seconds: Double) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 1e9) * 1e9))
    }
    /// Waits until the clock shows a date.
    var waitUntil: @Sendable (Date) async throws -> Void = { date in
        // In short steps: a sleep doesn't count the time in which the device itself sleeps.
        while case let seconds = date.timeIntervalSinceNow, seconds > 0 {
            try await Task.sleep(nanoseconds: UInt64(min(seconds, 60) * 1e9))
        }
    }
    /// Spreads the attempts of many devices. In 0..<1.
    var chance: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// Events of the device while the app runs.
    package var events: @Sendable () -> AsyncStream<DeviceEvent> = { AsyncStream { $0.finish() } }
    /// Where asset packs are stored; nil: where the options say.
    package var contentLocation: ContentLocation?
    /// The `CFBundleShortVersionString`.
    var appVersion = (Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String)
        .flatMap { AppVersion($0) }
    /// What downloads asset packs.
    package var contentTransport: any Transport = URLSessionTransport.shared
    /// Seconds without a byte after which a download waits for the network.
    package var stallTimeout: Double = 10
    var network: @Sendable () -> AsyncStream<NetworkCondition> = NetworkCondition.ofThisDevice
    /// Bytes that can be written to a folder; nil if that isn't known.
    package var freeSpace: @Sendable (_ folder: String) -> Int64? = { Disk.freeSpace(in: $0) }
    /// What downloads while the app isn't in the foreground. Nil: nothing does.
    package var background: (any BackgroundDownloads)?
    /// Why the options can't be used.
    var optionsError: Tenure.Error?
    /// How long the first search may keep callers waiting, in seconds.
    var resolvingTimeout: Double = 15
    /// How long `allows(_:)` waits while a denial is checked again, in seconds.
    var recheckTimeout: Double = 2
    /// How long a purchase waits for the service, in seconds. The request goes on.
    var purchaseTimeout: Double = 5

    /// Storage that no other process locks.
    package var storage: any StateStorage {
        get { location.storage }
        set { location = StateLocation(newValue) }
    }

    /// Whether this process may discard the state of a differently installed copy. An extension that shares the app's
    /// state leaves that to the app.
    var ownsState: Bool { host.kind != .appExtension || options.accessGroup == nil }

    package init(access: any AppStoreAccess, storage: any StateStorage, policy: Tenure.PolicySource?) {
        self.access = access
        location = StateLocation(storage)
        host = HostProcess.current.identified(as: access.bundleID)
        self.policy = policy
    }
}

extension Setup {
    /// Calls the store with a timeout. Returns nil if it isn't to be asked.
    func attempt<Value: Sendable>(
        _ isAsked: Bool = true, _ call: @escaping @Sendable (any AppStoreAccess) async throws -> Value
    ) async -> Result<Value, any Error>? {
        guard isAsked else { return nil }
        let access = access
        do {
            return .success(try await withTimeout(options.appStoreTimeout) { try await call(access) })
        } catch {
            return .failure(error)
        }
    }
}

/// Something that happens to the device or the app: most events make it worthwhile to check a denial again.
package enum DeviceEvent: Sendable {
    case appBecameActive
    case appEnteredBackground
    case networkReturned
    /// The device was unlocked for the first time since it started.
    case keychainUnlocked
}
