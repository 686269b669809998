import Foundation

/// The token that authorizes requests to the App Store. Many requests have the same token. It is replaced shortly
/// before it expires, or after the App Store rejected it.
actor AppStoreTokens {
    private let credentials: AppStoreCredentials
    /// The latest token; nil before the first request, and after the App Store rejected a token.
    private var current: (text: String, issued: Date)?

    /// A token is replaced this many seconds before it expires, because a request takes time and clocks differ.
    private static let margin: TimeInterval = 60

    init(_ credentials: AppStoreCredentials) { self.credentials = credentials }

    /// Returns the current token, or signs a new one. Throws `cannotSign` if that fails.
    func token(at now: Date) throws(AppStoreFailure) -> String {
        // Reuses the token unless it expires soon. If the clock was set back, the token may be from the future. The App
        // Store would reject it, so it isn't reused either.
        if let current, (0..<AppStoreCredentials.lifetime - Self.margin).contains(now.timeIntervalSince(current.issued))
        {
            return current.text
        }
        guard let text = try? credentials.token(issuedAt: now) else { throw .cannotSign }
        current = (text, now)
        return text
    }

    /// Discards this token, unless another request has replaced it already.
    func discard(_ text: String) { if current?.text == text { current = nil } }
}
