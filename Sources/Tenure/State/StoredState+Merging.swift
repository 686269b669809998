import Foundation

// Several processes share one state: an app, its extensions and its widgets. Each process works on a copy. When a
// process writes, it merges its copy with the stored state, so that it overwrites no changes of other processes.
extension StoredState {
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
        merged.trials = trials.merging(stored.trials, uniquingKeysWith: Self.larger)
        merged.catalog = newer(of: catalog, stored.catalog)
        merged.revocations = revocations?.merging(stored.revocations) ?? stored.revocations
        let all = Set(moved ?? []).union(stored.moved ?? [])
        merged.moved = all.isEmpty ? nil : all.sorted()
        return merged
    }

    /// Adds another state that was stored separately. The numbers of used trial sessions are added up.
    mutating func add(_ other: StoredState, at clock: Date) {
        let mine = trials
        let fresh = StoredState(clock: clock)
        self = merging(other, base: fresh, at: clock)
        trials = mine.merging(other.trials) { first, second in
            first.merging(second) { TrialUse(sessions: $0.sessions + $1.sessions) }
        }
    }

    /// Returns the larger number of used trial sessions for each entitlement, because the number never decreases.
    /// Sessions are counted only in `update`, which stores them immediately. So no copy has a session that isn't
    /// stored.
    private static func larger(_ mine: [String: TrialUse], _ stored: [String: TrialUse]) -> [String: TrialUse] {
        mine.merging(stored) { $0.sessions > $1.sessions ? $0 : $1 }
    }

    /// Returns the later of two lists of products from the service.
    private func newer(of mine: CachedCatalog?, _ stored: CachedCatalog?) -> CachedCatalog? {
        guard let mine, let stored else { return mine ?? stored }
        return mine.fetchedAt >= stored.fetchedAt ? mine : stored
    }
}
