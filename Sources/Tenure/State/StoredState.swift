package import Foundation
import TenureCore

/// The state that the device stores between two starts.
package struct StoredState: Sendable, Hashable, Codable {
    /// `AppStore.deviceVerificationID` of the device that wrote it, hashed.
    package var device: String?
    /// How the copy of the app that wrote it was installed. A tester's state doesn't count after a purchase.
    package var distribution: String?
    var time: DeviceTime
    package var account = Account()
    /// The use of trials by acquisition. An account that returns still has its used sessions.
    var trials: [String: [String: TrialUse]] = [:]
    /// The service's list of products; nil until it was asked for.
    package var catalog: CachedCatalog?
    /// The signing keys that the offline root has revoked: for every account, and only ever replaced by a newer list.
    var revocations: KeyRevocations?
    /// Digests of the private states that were moved here, so that none is added twice; nil: none was.
    var moved: [String]?

    package init(clock: Date) {
        time = DeviceTime(clock: clock)
    }

    /// Fits a state that was read, or made, to this process.
    ///
    /// - Parameter distribution: how this copy of the app was installed. Nil: another process decides that.
    mutating func settle(on device: String?, _ distribution: Tenure.Distribution?, at clock: Date) {
        time.look(at: clock)
        self.device = device ?? self.device
        guard let distribution else { return }
        if let other = self.distribution, other != distribution.rawValue { discardAccount() }
        self.distribution = distribution.rawValue
    }

    /// Sets the persona that replaces the customer from now on.
    mutating func setPersona(_ persona: String?) {
        guard account.persona != persona else { return }
        account.forgetService()
        account.persona = persona
    }

    /// Replaces the account with another one. A persona that replaces the customer stays in use.
    mutating func discardAccount() {
        let persona = account.persona
        account = Account()
        account.persona = persona
    }

    /// Whether writing `other` over this would change anything worth a write.
    func agrees(with other: StoredState) -> Bool {
        account == other.account && trials == other.trials && catalog == other.catalog && device == other.device
            && distribution == other.distribution && moved == other.moved && revocations == other.revocations
            && time.agrees(with: other.time)
    }
}
