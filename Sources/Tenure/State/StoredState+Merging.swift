import Foundation

// Several processes share one state: an app, its extensions and its widgets. Each works on a copy and merges it when it
// writes, so that all keep each other's writes.
extension StoredState {
    /// Returns this copy with what others stored since.
    ///
    /// - Parameters:
    ///   - stored: what is stored now.
    ///   - base: what was stored when this copy was last read or written: what differs from it is new.
    func merging(_ stored: StoredState, base: StoredState, at clock: Date) -> StoredState {
        var merged = self
        merged.device = device ?? stored.device
        merged.distribution = distribution ?? stored.distribution
        merged.time = time.merging(stored.time, base: base.time, at: clock)
        merged.account = account.merging(stored.account, base: base.account)
        merged.trials = trials.merging(stored.trials, uniquingKeysWith: Self.larger)
        merged.catalog = newer(of: catalog, stored.catalog)
        merged.revocations = revocations?.merging(stored.revocations) ?? stored.revocations
        let all = Set(moved ?? []).union(stored.moved ?? [])
        merged.moved = all.isEmpty ? nil : all.sorted()
        return merged
    }

    /// Adds a state that was never shared with this one. Both counted their own sessions of trials.
    mutating func add(_ other: StoredState, at clock: Date) {
        let mine = trials
        let fresh = StoredState(clock: clock)
        self = merging(other, base: fresh, at: clock)
        trials = mine.merging(other.trials) { first, second in
            first.merging(second) { TrialUse(sessions: $0.sessions + $1.sessions) }
        }
    }

    /// Sessions are only ever counted inside an update, where all of them are known. So no copy has a session that is
    /// not stored, and the larger count is the later one.
    private static func larger(_ mine: [String: TrialUse], _ stored: [String: TrialUse]) -> [String: TrialUse] {
        mine.merging(stored) { $0.sessions > $1.sessions ? $0 : $1 }
    }

    /// The list of products that the service sent last.
    private func newer(of mine: CachedCatalog?, _ stored: CachedCatalog?) -> CachedCatalog? {
        guard let mine, let stored else { return mine ?? stored }
        return mine.askedAt >= stored.askedAt ? mine : stored
    }
}
