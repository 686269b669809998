package import Foundation

/// A customer's use of an entitlement's trial, before a request for a session.
package struct TrialUse: Sendable, Hashable {
    /// The number of sessions that the customer has begun.
    package let sessions: Int
    /// The time when the first session began; nil without sessions.
    package let since: Date?
    /// The time when the requested session began; nil if it hasn't begun yet.
    package let sessionBegan: Date?
}

/// The dates of a customer's sessions of one trial.
package struct BegunSessions: Sendable, Hashable {
    /// When the first session began.
    package let first: Date
    /// When the latest session began.
    package let latest: Date
}
