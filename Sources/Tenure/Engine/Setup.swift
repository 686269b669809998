package import Foundation
import TenureCore
package import TenureHTTP

/// Everything the client depends on, so that tests can replace each part.
package struct Setup: Sendable {
    /// StoreKit, or a test's substitute for it.
    package var access: any AppStoreAccess
    /// Where the state is stored.
    var location: StateLocation
    /// What kind of process this is, such as an app or an extension.
    var host: HostProcess
    /// The policy with which the device decides by itself. Nil if the client only asks the service.
    package var policy: Tenure.PolicySource?
    /// The connection to the service. Nil if the app uses no service.
    package var service: ServiceConnection?
    /// The public keys with which the app verifies what the service signed.
    package var keys: [Tenure.ServiceKey] = []
    /// The offline root, a key that vouches for the service's keys. Nil if the app trusts `keys` instead.
    var root: Tenure.ServiceKey?
    package var options = Tenure.Options()
    /// Whether the client only sends what the App Store signed to the service, and allows every entitlement: see
    /// `Tenure.listening`.
    var isListening = false
    /// Returns the time on the device's clock.
    package var clock: @Sendable () -> Date = { Date() }
    /// Waits for a number of seconds. Throws only if its task is canceled.
    package var sleep: @Sendable (_ seconds: Double) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 1e9) * 1e9))
    }
    /// Waits until the clock shows a date.
    var waitUntil: @Sendable (Date) async throws -> Void = { date in
        // Wait in short steps: `Task.sleep` doesn't include the time in which the device itself sleeps.
        while true {
            let seconds = date.timeIntervalSinceNow
            guard seconds > 0 else { return }
            try await Task.sleep(nanoseconds: UInt64(min(seconds, 60) * 1e9))
        }
    }
    /// Returns a random number in 0..<1, so that many devices don't retry at the same time.
    var chance: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// Events of the device while the app runs.
    package var events: @Sendable () -> AsyncStream<DeviceEvent> = { AsyncStream { $0.finish() } }
    /// The folders of asset packs. Nil to use the folders of the options.
    package var contentLocation: ContentLocation?
    /// The `CFBundleShortVersionString`.
    var appVersion = (Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String)
        .flatMap { AppVersion($0) }
    /// The HTTP client that downloads asset packs.
    package var contentTransport: any Transport = URLSessionTransport.shared
    /// The seconds after which a started app counts as being in the foreground, unless the system first reports
    /// background downloads.
    var foregroundWait: Double = 2
    /// Seconds without a byte after which a download waits for the network.
    package var stallTimeout: Double = 10
    /// Returns the condition of the network now and after every change.
    var network: @Sendable () -> AsyncStream<NetworkCondition> = NetworkCondition.ofThisDevice
    /// Returns the number of free bytes in a folder. Nil if it isn't known.
    package var freeSpace: @Sendable (_ folder: String) -> Int64? = { Disk.freeSpace(in: $0) }
    /// The system's downloads while the app isn't in the foreground. Nil if the system downloads nothing: on macOS and
    /// Linux, in extensions, App Clips and companion watch apps, and without content sources.
    package var background: (any BackgroundDownloads)?
    /// Why an option is invalid. Nil if all options are valid.
    var optionsError: Tenure.Error?
    /// How long callers wait, in seconds, until the App Store and the service were asked for the first time.
    var resolvingTimeout: Double = 15
    /// How long `allows(_:)` waits while a denial is checked again, in seconds.
    var recheckTimeout: Double = 2
    /// How long `purchase` waits for the service, in seconds. After that, the request continues in the background.
    var purchaseTimeout: Double = 5

    /// The storage of the state. Setting it replaces the whole `location`: nothing is moved from an earlier storage,
    /// and no file records the grace period.
    package var storage: any StateStorage {
        get { location.storage }
        set { location = StateLocation(storage: newValue) }
    }

    /// Whether this process may discard the state that a differently installed copy of the app stored. If an extension
    /// shares the app's state, only the app may discard it.
    var ownsState: Bool { host.kind != .appExtension || options.accessGroup == nil }

    package init(access: any AppStoreAccess, storage: any StateStorage, policy: Tenure.PolicySource?) {
        self.access = access
        location = StateLocation(storage: storage)
        host = HostProcess.current.withBundleID(access.bundleID)
        self.policy = policy
    }

    /// Returns for how many seconds after the first start undetermined entitlements are allowed. Nil if they are
    /// denied.
    func grace(under policy: Policy?, _ policyError: Tenure.Error?) -> TimeInterval? {
        let byDefault: Policy.WhileUndetermined = policyError == nil ? .allow(72 * 3600) : .deny
        guard case .allow(let seconds) = options.whileUndetermined ?? policy?.whileUndetermined ?? byDefault else {
            return nil
        }
        return seconds
    }

    /// Calls the App Store with a timeout, and returns the result or the error. Returns nil without a call if `isAsked`
    /// is false.
    func callAppStore<Value: Sendable>(
        if isAsked: Bool = true, _ call: @escaping @Sendable (any AppStoreAccess) async throws -> Value
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

/// An event of the device or the app to which the client reacts.
package enum DeviceEvent: Sendable {
    /// The app became active in the foreground.
    case appBecameActive
    case appEnteredBackground
    /// The network is available again.
    case networkReturned
    /// The device was unlocked for the first time since it started, so the keychain can be read.
    case keychainUnlocked
}
