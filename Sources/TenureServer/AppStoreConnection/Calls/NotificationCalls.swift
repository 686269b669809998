import Foundation
import TenureAppStore
import TenureCore

/// A notification that the App Store once sent, and how that went. Nothing of it is verified yet.
struct SentNotification: Sendable {
    /// A JWS as it was posted; for whoever takes notifications, and verifies them.
    let signedPayload: [UInt8]
    let attempts: [Attempt]

    struct Attempt: Sendable, Hashable {
        let date: Date?
        /// `SUCCESS`, or why not, in Apple's words.
        let result: String?
    }

    fileprivate init(_ reply: AppStoreReply) throws(AppStoreFailure) {
        signedPayload = Array(try reply.text("signedPayload").utf8)
        attempts = try Attempt.list(in: reply)
    }
}

extension SentNotification.Attempt {
    fileprivate static func list(in reply: AppStoreReply) throws(AppStoreFailure) -> [Self] {
        var attempts: [Self] = []
        for attempt in try reply.objects("sendAttempts") {
            let milliseconds = try attempt.optionalInteger("attemptDate")
            attempts.append(
                Self(
                    date: milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) },
                    result: try attempt.optionalText("sendAttemptResult")))
        }
        return attempts
    }
}

/// Up to 20 notifications, and the way to the next ones.
struct NotificationPage: Sendable {
    let notifications: [SentNotification]
    let paginationToken: String?
    let hasMore: Bool
}

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
