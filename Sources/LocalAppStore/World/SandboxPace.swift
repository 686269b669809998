package import Foundation

/// How short time is in the sandbox. What is not said is as Apple documents it; `Docs/local-app-store.md` says what is
/// assumed.
///
/// All in seconds.
package struct SandboxPace: Codable, Sendable, Hashable {
    /// A period of up to three days.
    package var days: TimeInterval = 2 * 60
    /// A period of weeks.
    package var weeks: TimeInterval = 3 * 60
    /// Each month of a period; a year has twelve.
    package var month: TimeInterval = 5 * 60
    /// Each day of a grace period or of billing retry. Nobody has written down what Apple does: as much shorter as a month.
    package var waitingDay: TimeInterval = 5 * 60 / 30
    /// So often a subscription renews by itself; then it ends.
    package var renewals = 12

    /// A renewal is charged half a minute before a period ends.
    package static let shortestPeriod: TimeInterval = 60

    package init() {}
}
