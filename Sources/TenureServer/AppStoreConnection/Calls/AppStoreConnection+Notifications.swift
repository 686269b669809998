import Foundation
import TenureAppStore
import TenureCore

extension AppStoreConnection {
    /// One page of what the App Store sent between two instants: in production within the last 180 days, in the sandbox
    /// within 30. `onlyFailures`: only what did not reach us.
    func notificationHistory(
        from start: Date, to end: Date, onlyFailures: Bool = false, after paginationToken: String? = nil,
        in environment: AppStoreEnvironment
    ) async throws(AppStoreFailure) -> NotificationPage {
        let reply = try await answer(
            to: .notificationHistory(from: start, to: end, onlyFailures: onlyFailures, after: paginationToken),
            in: environment)
        var notifications: [SentNotification] = []
        for sent in try reply.objects("notificationHistory") { notifications.append(try SentNotification(sent)) }
        return NotificationPage(
            notifications: notifications, paginationToken: try reply.optionalText("paginationToken"),
            hasMore: try reply.flag("hasMore"))
    }

    /// Lets the App Store send a notification of the type `TEST` to the address in App Store Connect; answers with the
    /// token to ask with how that went.
    func requestTestNotification(in environment: AppStoreEnvironment) async throws(AppStoreFailure) -> String {
        try await answer(to: .requestTestNotification(), in: environment).text("testNotificationToken")
    }

    /// What was sent as a test, verified, and how that went. Throws `untrusted` where it cannot be verified.
    func testNotification(_ token: String, in environment: AppStoreEnvironment) async throws(AppStoreFailure)
        -> (notification: VerifiedNotification, attempts: [SentNotification.Attempt])
    {
        let sent = try SentNotification(try await answer(to: .testNotificationStatus(token), in: environment))
        let verified = try trusting { () throws(Rejection) in
            let verified = try verifier.verifyNotification(sent.signedPayload, now: time.now())
            try verified.notification.checkSigned(in: environment)
            return verified
        }
        return (verified, sent.attempts)
    }
}
