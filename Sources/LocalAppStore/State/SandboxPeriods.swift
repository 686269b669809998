import Foundation

/// The short periods of the sandbox. The defaults are as Apple documents them; `Docs/local-app-store.md` lists the
/// assumptions.
///
/// All lengths are in seconds.
package struct SandboxPeriods: Codable, Sendable, Hashable {
    /// The length of a period of up to three days.
    var days: TimeInterval = 2 * 60
    /// The length of a period of weeks.
    var weeks: TimeInterval = 3 * 60
    /// The length of each month of a period; a year has twelve.
    var month: TimeInterval = 5 * 60
    /// The length of each day of a grace period or of billing retry. Apple doesn't document it, so it is a thirtieth of
    /// the default `month`.
    var waitingDay: TimeInterval = 5 * 60 / 30
    /// How many times a subscription renews by itself before it ends.
    var renewals = 12

    /// The shortest allowed period. It must be longer than `AppStoreState.renewalLead`, because a renewal is charged
    /// that long before the period ends.
    static let minimumPeriod: TimeInterval = 60
}
