import Foundation
package import TenureAppStore

/// One App Store Server Notification: its content at the time of the event, and the outcomes of its delivery.
/// It is signed only when it is sent or listed.
package struct StoreNotification: Sendable, Hashable {
    let index: Int
    let uuid: UUID
    package let type: NotificationType
    let subtype: NotificationSubtype?
    let date: Date
    /// How many earlier notifications are about the same purchase at that instant.
    let rank: Int
    let app: Int
    let subject: Subject
    package var attempts: [SendAttempt] = []

    enum Subject: Sendable, Hashable {
        case transaction(StoreTransaction, Subscription?, ConsumptionRequestReason?)
        case extensionSummary(ExtensionSummary)
        /// About this acquisition.
        case app(Int)
        /// A test.
        case nothing
    }

    /// The signing date. Of several notifications about one purchase at one instant, each is signed a millisecond after
    /// the one before, so that a receiver can order them.
    var signingDate: Date { date.addingTimeInterval(Double(rank) / 1000) }

    var transaction: StoreTransaction? {
        if case .transaction(let transaction, _, _) = subject { transaction } else { nil }
    }
}

/// A mass extension of renewal dates.
struct ExtensionSummary: Sendable, Hashable {
    let requestIdentifier: String
    let product: Int
    let storefronts: [String]
    let completedAt: Date
    let succeeded: Int
    let failed: Int
}

package struct SendAttempt: Sendable, Hashable {
    let date: Date
    let result: SendAttemptResult
}

/// The outcome of a delivery, in Apple's terms.
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
    package init(status: Int) {
        self = (200...206).contains(status) ? .success : .unsuccessfulStatus
    }
}
