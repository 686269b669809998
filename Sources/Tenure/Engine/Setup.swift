package import Foundation
import TenureCore

/// Everything that the client is made of, so that tests can put something in the place of each.
package struct Setup: Sendable {
    package var access: any StoreAccess
    /// Where the state is kept.
    package var location: StateLocation
    /// What kind of process this is.
    package var host: HostProcess
    /// How the device decides by itself; nil: it only asks the service.
    package var policy: Tenure.PolicySource?
    package var service: ServiceConnection?
    package var keys: [Tenure.ServiceKey] = []
    package var options = Tenure.Options()
    /// Reports proofs to the service, and gates nothing.
    package var isListening = false
    package var clock: @Sendable () -> Date = { Date() }
    /// Waits between tries and between days; ends early only with its task.
    package var sleep: @Sendable (_ seconds: Double) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 1e9) * 1e9))
    }
    /// Spreads the tries of many devices; in 0..<1.
    package var chance: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Who is to stand in for the customer; nil in every copy that people get from the App Store.
    var persona: String? {
        access.isRehearsal || access.distribution == .testFlight ? options.persona : nil
    }

    /// A place that no other process locks.
    package var storage: any StateStorage {
        get { location.storage }
        set { location = StateLocation(newValue) }
    }

    package init(access: any StoreAccess, storage: any StateStorage, policy: Tenure.PolicySource?) {
        self.access = access
        location = StateLocation(storage)
        host = HostProcess(HostProcess.current.kind, bundleID: access.bundleID)
        self.policy = policy
    }
}
