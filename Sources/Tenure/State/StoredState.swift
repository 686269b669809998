package import Foundation
import TenureCore

/// The state that the device stores between two starts.
package struct StoredState: Sendable, Hashable, Codable {
    /// The hash of `AppStore.deviceVerificationID` of the device that wrote the state.
    package var device: String?
    /// How the copy of the app that wrote the state was installed. A copy from the App Store discards the state of a
    /// TestFlight or development build.
    package var distribution: String?
    var time: DeviceTime
    package var account = Account()
    /// The use of trials, by acquisition. The use stays stored after another account signs in, so an account that
    /// returns has no new sessions.
    var trials: [String: [String: TrialUse]] = [:]
    /// The service's list of products. Nil until it was first fetched.
    package var catalog: CachedCatalog?
    /// The signing keys that the offline root has revoked. They apply to all accounts, and only a newer list replaces
    /// them.
    var revocations: KeyRevocations?
    /// Digests of the private states that were moved into this shared state, so that no private state is added twice.
    /// Nil if no private state was moved.
    var moved: [String]?

    package init(clock: Date) {
        time = DeviceTime(clock: clock)
    }

    /// Prepares a state, after it was read or created, for this device and this copy of the app. Discards the account
    /// of a copy that was installed in another way.
    ///
    /// - Parameter distribution: how this copy of the app was installed. Nil if this process may not discard data.
    mutating func prepare(for device: String?, _ distribution: Tenure.Distribution?, at clock: Date) {
        time.observe(clock: clock)
        self.device = device ?? self.device
        guard let distribution else { return }
        if let other = self.distribution, other != distribution.rawValue { discardAccount() }
        self.distribution = distribution.rawValue
    }

    /// Sets the persona that replaces the customer from now on.
    mutating func setPersona(_ persona: String?) {
        guard account.persona != persona else { return }
        account.discardServiceAnswers()
        account.persona = persona
    }

    /// Replaces the account with another account. A persona that replaces the customer stays in use.
    mutating func discardAccount() {
        let persona = account.persona
        account = Account()
        account.persona = persona
    }

    /// Whether `other` differs so little that writing it isn't worth a disk access: only in times, by a few minutes.
    func agrees(with other: StoredState) -> Bool {
        var otherAtMyTime = other
        otherAtMyTime.time = time
        return self == otherAtMyTime && time.agrees(with: other.time)
    }
}
