import TenureCore

/// The numbers of customers with each outcome of one entitlement under the new policy, and with each change from the
/// old policy (`Change`).
package struct Counts: Sendable, Hashable {
    // By outcome under the new policy. Each customer is in one of these three numbers.
    package private(set) var granted = 0
    package private(set) var denied = 0
    package private(set) var undetermined = 0
    // By change from the old policy; all 0 if there is no old policy. `Change` explains each.
    package private(set) var gains = 0
    package private(set) var loses = 0
    private(set) var changesOutcome = 0
    private(set) var changesReason = 0
    private(set) var same = 0
    /// The number of losing customers with a right that now ends earlier.
    private(set) var shortened = 0
    /// The number of losing customers with an outcome that is now undetermined.
    private(set) var losesToUndetermined = 0

    /// The number of all customers.
    var total: Int { granted + denied + undetermined }

    subscript(outcome: Decision.Outcome) -> Int {
        switch outcome {
        case .granted: granted
        case .denied: denied
        case .undetermined: undetermined
        }
    }

    subscript(change: Change) -> Int {
        switch change {
        case .gains: gains
        case .loses: loses
        case .changesOutcome: changesOutcome
        case .changesReason: changesReason
        case .same: same
        }
    }

    /// Counts customers with the same effect.
    ///
    /// - Parameters:
    ///   - change: the effect's change; nil if there is no old policy.
    ///   - times: the number of customers.
    mutating func add(_ effect: Effect, change: Change?, times: Int = 1) {
        switch effect.now.outcome {
        case .granted: granted += times
        case .denied: denied += times
        case .undetermined: undetermined += times
        }
        switch change {
        case .gains: gains += times
        case .loses:
            loses += times
            if effect.now.outcome == .granted { shortened += times }
            if effect.now.outcome == .undetermined { losesToUndetermined += times }
        case .changesOutcome: changesOutcome += times
        case .changesReason: changesReason += times
        case .same: same += times
        case nil: break
        }
    }

    mutating func add(_ other: Counts) {
        granted += other.granted
        denied += other.denied
        undetermined += other.undetermined
        gains += other.gains
        loses += other.loses
        changesOutcome += other.changesOutcome
        changesReason += other.changesReason
        same += other.same
        shortened += other.shortened
        losesToUndetermined += other.losesToUndetermined
    }

    /// The number of customers with another outcome, or another end of the right, than under the old policy.
    var changed: Int { gains + loses + changesOutcome }
}
