package import Foundation

/// The short periods of the sandbox. The defaults are as Apple documents them; `Docs/local-app-store.md` lists the
/// assumptions.
///
/// All in seconds.
package struct SandboxPeriods: Codable, Sendable, Hashable {
    /// A period of up to three days.
    package var days: TimeInterval = 2 * 60
    /// A period of weeks.
    package var weeks: TimeInterval = 3 * 60
    /// Each month of a period; a year has twelve.
    package var month: TimeInterval = 5 * 60
    /// Each day of a grace period or of billing retry. Apple doesn't document it; it is as much shorter as a month.
    package var waitingDay: TimeInterval = 5 * 60 / 30
    /// How often a subscription renews by itself before it ends.
    package var renewals = 12

    /// A renewal is charged half a minute before a period ends.
    package static let shortestPeriod: TimeInterval = 60

    package init() {}
}
