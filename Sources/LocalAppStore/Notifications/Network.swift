/// What happens to notifications on their way to the app's URL, so that a test can lose or delay them.
package enum Network: String, CaseIterable, Sendable, Hashable {
    /// Notifications are sent.
    case up
    /// Notifications don't arrive, and the App Store tries again later.
    case down
    /// Notifications don't arrive, but the App Store sees a successful response and doesn't try again.
    case swallowing
}
