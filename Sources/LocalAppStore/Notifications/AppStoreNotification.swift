import Foundation
package import TenureAppStore

/// One App Store Server Notification: its content at the time of the event, and the outcomes of its delivery. The
/// notification is signed only when it is sent or listed.
package struct AppStoreNotification: Sendable, Hashable {
    /// The index in `AppStoreState.notifications`.
    let index: Int
    let uuid: UUID
    package let type: NotificationType
    let subtype: NotificationSubtype?
    /// The time of the event.
    let date: Date
    /// The number of earlier notifications about the same purchase at the same instant.
    let rank: Int
    /// The index in `AppStoreState.apps`.
    let app: Int
    let subject: Subject
    /// The attempts to deliver the notification, the oldest first.
    package var attempts: [SendAttempt] = []

    /// What the notification is about.
    enum Subject: Sendable, Hashable {
        /// A transaction and its subscription, if it has one. If the customer asks for a refund, also the customer's
        /// reason.
        case transaction(AppStoreTransaction, Subscription?, ConsumptionRequestReason?)
        /// The result of extending the renewal dates of all subscribers of a product.
        case extensionSummary(ExtensionSummary)
        /// An acquisition of the app, by its index in `AppStoreState.acquisitions`.
        case acquisition(Int)
        /// Nothing: it is a test notification.
        case nothing
    }

    /// The signing date. If several notifications are about one purchase at one instant, each is signed a millisecond
    /// after the previous one. So a receiver can order them.
    var signingDate: Date { date.addingTimeInterval(Double(rank) / 1000) }

    /// The transaction that the notification is about; nil for another subject.
    var transaction: AppStoreTransaction? {
        if case .transaction(let transaction, _, _) = subject { transaction } else { nil }
    }
}

/// The result of extending the renewal dates of all subscribers of a product.
struct ExtensionSummary: Sendable, Hashable {
    /// The ID that the developer gave the request.
    let requestIdentifier: String
    /// The index in `AppStoreState.products`.
    let product: Int
    /// The codes of the storefronts in which subscriptions were extended. Empty for all storefronts.
    let storefronts: [String]
    let completedAt: Date
    /// The number of subscriptions that were extended, and the number that couldn't be.
    let succeeded: Int
    let failed: Int
}

/// One attempt to deliver a notification.
package struct SendAttempt: Sendable, Hashable {
    let date: Date
    let result: SendAttemptResult
}

/// The outcome of an attempt to deliver a notification, with Apple's names (`sendAttemptResult`).
package enum SendAttemptResult: String, CaseIterable, Sendable, Hashable {
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case noResponse = "NO_RESPONSE"
    case socketIssue = "SOCKET_ISSUE"
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"

    /// Creates the outcome for the receiver's HTTP status.
    package init(status: Int) { self = (200...206).contains(status) ? .success : .unsuccessfulStatus }
}
