public import Foundation
import TenureCore

/// A notification with its nested artifacts. Each artifact was verified separately and compared with the notification,
/// and transaction and renewal info were compared with each other.
public struct VerifiedNotification: Sendable, Hashable {
    /// The outer JWS, with the type of the event. Its `data` or `appData` has the encoded artifacts.
    public let notification: Verified<NotificationPayload>
    /// The transaction in the notification. Nil if notifications of this type have no transaction.
    public let transaction: Verified<TransactionPayload>?
    /// The renewal info in the notification. Nil if notifications of this type have no renewal info.
    public let renewalInfo: Verified<RenewalInfoPayload>?
    /// The app transaction in the notification, signed for a server. Nil if notifications of this type have no app
    /// transaction.
    public let appTransaction: Verified<AppTransactionPayload>?

    /// Checks that the nested artifacts are from the notification's environment and app, and that transaction and
    /// renewal info are about one subscription. Without this check, a genuine artifact of another app would be
    /// accepted.
    fileprivate func checkBelongTogether() throws(Rejection) {
        try checkBelongs(transaction, as: "data.signedTransactionInfo")
        try checkBelongs(renewalInfo, as: "data.signedRenewalInfo")
        try checkBelongs(appTransaction, as: "appData.signedAppTransactionInfo")
        if let transaction, let renewalInfo,
            transaction.payload.originalTransactionID != renewalInfo.payload.originalTransactionID
        {
            throw Rejection(
                .malformed, "the notification's transaction and renewal info belong to different subscriptions")
        }
    }

    /// Checks that a nested artifact is from the notification's environment and app.
    private func checkBelongs<Payload: AppStorePayload>(_ nested: Verified<Payload>?, as path: String) throws(Rejection)
    {
        guard let nested else { return }
        guard nested.environment == notification.environment else {
            throw Rejection(
                .wrongEnvironment,
                "`\(path)` was signed in `\(nested.environment.rawValue)`, but the notification was signed in another environment"
            )
        }
        // Renewal info doesn't contain its app.
        guard Payload.kind != .renewalInfo else { return }
        guard let outer = notification.payload.bundleID else {
            throw Rejection(.wrongApp, "the notification has no `bundleId`, so it can't be compared with `\(path)`")
        }
        guard let inner = nested.payload.bundleID else { throw Rejection(.wrongApp, "`\(path)` has no `bundleId`") }
        guard inner.utf8.elementsEqual(outer.utf8) else {
            throw Rejection(.wrongApp, "`\(path)` is about another app than the notification")
        }
    }
}

extension AppStoreVerifier {
    /// Verifies an App Store Server Notification and each JWS in it. `verifyAppTransaction` describes `now` and the
    /// order of the checks.
    ///
    /// In addition, nested artifacts must be from the same app and environment (`wrongApp`, `wrongEnvironment`).
    /// Transaction and renewal info must be about the same subscription (`malformed`).
    public func verifyNotification(_ jws: [UInt8], now: Date?) throws(Rejection) -> VerifiedNotification {
        let notification: Verified<NotificationPayload> = try verify(jws, now: now)
        let data = notification.payload.data
        // A notification has one of four parts. If it has several, the first in Apple's order counts; `appData` is the
        // last.
        let appData =
            data == nil && notification.payload.summary == nil && notification.payload.externalPurchaseToken == nil
            ? notification.payload.appData : nil
        let result = VerifiedNotification(
            notification: notification,
            transaction: try nested(data?.signedTransactionInfo, "data.signedTransactionInfo", now),
            renewalInfo: try nested(data?.signedRenewalInfo, "data.signedRenewalInfo", now),
            appTransaction: try nested(appData?.signedAppTransactionInfo, "appData.signedAppTransactionInfo", now))
        try result.checkBelongTogether()
        return result
    }

    /// Verifies the JWS in one field of the notification; nil if the field is missing.
    private func nested<Payload: AppStorePayload>(
        _ jws: String?, _ path: String, _ now: Date?
    ) throws(Rejection) -> Verified<Payload>? {
        guard let jws else { return nil }
        do {
            return try verify(Array(jws.utf8), now: now)
        } catch {
            throw error.inside(path)
        }
    }
}
