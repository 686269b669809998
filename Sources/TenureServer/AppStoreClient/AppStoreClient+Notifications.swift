import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The calls for the history of sent notifications, and for test notifications.
extension AppStoreClient {
    /// Returns a page of up to 20 notifications that the App Store sent between two dates. The returned
    /// `paginationToken` asks for the next page; it's nil if the response has none. The App Store keeps notifications
    /// for 180 days in production, and for 30 days in the sandbox.
    ///
    /// - Parameter paginationToken: The token in the previous page; nil for the first page.
    func notificationHistory(
        from start: Date, to end: Date, after paginationToken: String? = nil, in environment: AppStoreEnvironment
    ) async throws(AppStoreFailure) -> (notifications: [SentNotification], paginationToken: String?, hasMore: Bool) {
        let body = JSONWriter.object { json in
            json.field("startDate", start.millisecondsSince1970)
            json.field("endDate", end.millisecondsSince1970)
        }
        let call = try AppStoreCall(.notificationHistory, query: [("paginationToken", paginationToken)], body: body)
        let reply = try await answer(to: call, in: environment)
        let notifications = try reply.objects("notificationHistory").map { sent throws(AppStoreFailure) in
            try SentNotification(sent)
        }
        return (notifications, try reply.optionalText("paginationToken"), try reply.flag("hasMore"))
    }

    /// Asks the App Store to send a `TEST` notification to the URL in App Store Connect. Returns the token with which
    /// to ask for the status of the notification.
    func requestTestNotification(in environment: AppStoreEnvironment) async throws(AppStoreFailure) -> String {
        try await answer(to: AppStoreCall(.requestTestNotification), in: environment).text("testNotificationToken")
    }

    /// Returns the test notification and the attempts to send it. Throws `untrusted` if the notification can't be
    /// verified.
    func testNotification(_ token: String, in environment: AppStoreEnvironment) async throws(AppStoreFailure)
        -> (notification: VerifiedNotification, attempts: [SentNotification.Attempt])
    {
        let call = try AppStoreCall(.testNotificationStatus, token)
        let sent = try SentNotification(try await answer(to: call, in: environment))
        let verified = try verifying { () throws(Rejection) in
            let verified = try verifier.verifyNotification(sent.signedPayload, now: time.now())
            try verified.notification.checkSigned(in: environment)
            return verified
        }
        return (verified, sent.attempts)
    }
}

/// A notification that the App Store sent, and its attempts to send it.
struct SentNotification: Sendable {
    /// The JWS that the App Store posted, which isn't verified yet.
    let signedPayload: [UInt8]
    let attempts: [Attempt]

    /// One attempt of the App Store to send a notification.
    struct Attempt: Sendable, Hashable {
        /// When the App Store tried; nil if the response doesn't say it.
        let date: Date?
        /// `SUCCESS`, or Apple's code of the failure; nil if the response has neither.
        let result: String?
    }

    /// Reads a notification in a response. Throws `unreadable` if the response doesn't have the documented form.
    init(_ reply: AppStoreReply) throws(AppStoreFailure) {
        signedPayload = Array(try reply.text("signedPayload").utf8)
        attempts = try reply.objects("sendAttempts").map { attempt throws(AppStoreFailure) in
            Attempt(
                date: try attempt.optionalInteger("attemptDate").map { Date(timeIntervalSince1970: Double($0) / 1000) },
                result: try attempt.optionalText("sendAttemptResult"))
        }
    }
}
