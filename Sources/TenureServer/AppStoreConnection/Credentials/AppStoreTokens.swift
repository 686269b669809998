import Foundation

/// The token of the moment: signed once for many calls, and anew shortly before it ends or after it was refused.
actor AppStoreTokens {
    private let credentials: AppStoreCredentials
    private var current: (text: String, issued: Date)?

    /// Seconds before its end in which a token is no longer used: a call may wait, and clocks differ.
    private static let margin: TimeInterval = 60

    init(_ credentials: AppStoreCredentials) {
        self.credentials = credentials
    }

    /// Throws `cannotSign`.
    func token(at now: Date) throws(AppStoreFailure) -> String {
        // A clock that was set back makes a token of the future, which the App Store refuses.
        if let current, (0..<AppStoreCredentials.lifetime - Self.margin).contains(now.timeIntervalSince(current.issued))
        {
            return current.text
        }
        do {
            let text = try credentials.token(issuedAt: now)
            current = (text, now)
            return text
        } catch {
            throw .cannotSign
        }
    }

    /// Only this one: another call may have replaced it already.
    func discard(_ text: String) {
        if current?.text == text { current = nil }
    }
}
