package import Foundation

/// A customer's use of a trial, before the requested session.
package struct TrialUse: Sendable, Hashable {
    /// The number of counted sessions.
    package let sessions: Int
    /// The time when the first session began; nil without sessions.
    package let since: Date?
    /// The time when the requested session began; nil if it hasn't begun yet.
    package let sessionBegan: Date?
}

/// The dates of a customer's sessions of one trial.
package struct BegunSessions: Sendable, Hashable {
    package let first: Date
    package let latest: Date
}
