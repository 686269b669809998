package import Foundation

/// The state that the device stores between two starts.
package struct StoredState: Sendable, Hashable, Codable {
    /// The hash of `AppStore.deviceVerificationID` of the device that wrote the state. Nil if StoreKit didn't provide
    /// it.
    package var device: String?
    /// How the copy of the app that wrote the state was installed: a raw value of `Tenure.Distribution`. A copy from
    /// the App Store discards the state of a TestFlight or development build.
    package var distribution: String?
    /// What the device knows about the time, so that setting the clock back extends no right.
    var time: DeviceTime
    /// The Apple Account that is signed in.
    package var account = Account()
    /// How many sessions of each trial were used: by a name of the account (see `accountNames`), then by
    /// entitlement. The use stays stored after another account signs in, so an account that returns has no new
    /// sessions.
    var trials: [String: [String: TrialUse]] = [:]
    /// The service's list of products. Nil until it was first fetched.
    package var catalog: CachedCatalog?
    /// The service's signing keys that the offline root (the key that vouches for them) has revoked. They apply to all
    /// accounts, and only a newer list replaces them.
    var revocations: KeyRevocations?
    /// Digests of the states that were moved from the app's own storage into this shared storage, so that none is added
    /// twice. Nil if none was moved.
    var moved: [String]?

    package init(clock: Date) { time = DeviceTime(clock: clock) }

    /// Prepares a state that was just read or created for this device and this copy of the app. Discards the account if
    /// a copy that was installed in another way stored it.
    ///
    /// - Parameter distribution: how this copy of the app was installed. Nil if this process may not discard data.
    mutating func prepare(for device: String?, _ distribution: Tenure.Distribution?, at clock: Date) {
        time.observe(clock: clock)
        self.device = device ?? self.device
        guard let distribution else { return }
        if let other = self.distribution, other != distribution.rawValue { discardAccount() }
        self.distribution = distribution.rawValue
    }

    /// Sets the persona (a test customer) that replaces the real customer from now on. Discards the answers about the
    /// previous customer.
    ///
    /// - Parameter persona: the persona's stored name; nil for the real customer.
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

    // MARK: Merging

    // Several processes share one state: an app, its extensions and its widgets. Each process works on a copy. When a
    // process writes, it merges its copy with the stored state, so that it overwrites no changes of other processes.

    /// Returns this copy, merged with the changes that other processes have stored since `base`.
    ///
    /// - Parameters:
    ///   - stored: the state that is stored now.
    ///   - base: the stored state when this process last read or wrote it. Differences from `base` are changes.
    func merging(_ stored: StoredState, base: StoredState, at clock: Date) -> StoredState {
        var merged = self
        merged.device = device ?? stored.device
        merged.distribution = distribution ?? stored.distribution
        merged.time = time.merging(stored.time, base: base.time, at: clock)
        merged.account = account.merging(stored.account, base: base.account)
        // Use the larger number of used trial sessions, because the number never decreases. Sessions are counted only
        // in `update`, which stores them immediately. So no copy has a session that isn't stored.
        merged.trials = trials.merging(stored.trials) { mine, theirs in
            mine.merging(theirs) { $0.sessions > $1.sessions ? $0 : $1 }
        }
        merged.catalog = newer(of: catalog, stored.catalog)
        merged.revocations = revocations?.merging(stored.revocations) ?? stored.revocations
        let all = Set(moved ?? []).union(stored.moved ?? [])
        merged.moved = all.isEmpty ? nil : all.sorted()
        return merged
    }

    /// Adds another state that was stored separately, so that the two have no common `base`. The numbers of used trial
    /// sessions are added up.
    mutating func add(_ other: StoredState, at clock: Date) {
        let mine = trials
        self = merging(other, base: StoredState(clock: clock), at: clock)
        trials = mine.merging(other.trials) { first, second in
            first.merging(second) { TrialUse(sessions: $0.sessions + $1.sessions) }
        }
    }

    /// Returns the later of two lists of products from the service.
    private func newer(of mine: CachedCatalog?, _ stored: CachedCatalog?) -> CachedCatalog? {
        guard let mine, let stored else { return mine ?? stored }
        return mine.fetchedAt >= stored.fetchedAt ? mine : stored
    }
}
