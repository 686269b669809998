package import Foundation

/// What a customer used of a trial, before the session that is asked for.
package struct TrialUse: Sendable, Hashable {
    /// Different sessions that were counted.
    package let sessions: Int
    /// When the first of them began.
    package let since: Date?
    /// When the one that is asked for began, where it was counted before.
    package let sessionBegan: Date?

    package init(sessions: Int, since: Date?, sessionBegan: Date?) {
        self.sessions = sessions
        self.since = since
        self.sessionBegan = sessionBegan
    }
}

/// When a customer's sessions of one trial began.
package struct BegunSessions: Sendable, Hashable {
    package let first: Date
    package let latest: Date

    package init(first: Date, latest: Date) {
        self.first = first
        self.latest = latest
    }
}
