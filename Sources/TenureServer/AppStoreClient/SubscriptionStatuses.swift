import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The verified last transaction and renewal info of each of a customer's subscriptions.
struct SubscriptionStatuses: Sendable {
    /// One subscription of the customer.
    struct Subscription: Sendable {
        /// The status from the response, such as active or expired; nil if the response has none. It isn't signed, so
        /// it is only displayed.
        let status: Open<SubscriptionStatus>?
        /// The last transaction; nil if it can't be verified.
        fileprivate(set) var transaction: (artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)?
        /// The renewal info; nil if it's missing, can't be verified, or belongs to another subscription than
        /// `transaction`.
        fileprivate(set) var renewal: (artifact: SyncArtifact<RenewalInfoPayload>, renewal: Renewal)?
    }

    let environment: AppStoreEnvironment
    private(set) var subscriptions: [Subscription] = []
    /// The artifacts that were rejected. The index in each path is the index of the subscription.
    private(set) var rejected: [RejectedArtifact] = []

    /// Verifies and adds one subscription of the response. Throws `unreadable` if the response doesn't have the
    /// documented form, and `untrusted` if verifying an artifact later may succeed.
    mutating func add(_ entry: AppStoreReply, by verifier: AppStoreVerifier, now: Date) throws(AppStoreFailure) {
        let (index, environment) = (subscriptions.count, environment)
        var subscription = Subscription(status: try entry.optionalInteger("status").map(Open.init))
        let transaction = try entry.text("signedTransactionInfo")
        subscription.transaction = try verifiedUnlessRejected(.transaction(index)) { () throws(Rejection) in
            try verifier.verified(transaction: transaction, at: .transaction(index), in: environment, now: now)
        }
        if let renewalInfo = try entry.optionalText("signedRenewalInfo") {
            let path = ArtifactPath.renewalInfo(index)
            let renewal = try verifiedUnlessRejected(path) { () throws(Rejection) in
                let bytes = Array(renewalInfo.utf8)
                let verified = try verifier.verifyRenewalInfo(bytes, now: now)
                try verified.checkSigned(in: environment)
                let artifact = SyncArtifact(verified, .renewalInfo, bytes, at: path, isOnDevice: false)
                return (artifact: artifact, renewal: try verified.renewal)
            }
            let subscriptionID = subscription.transaction?.purchase.originalTransactionID
            if let renewal, renewal.renewal.originalTransactionID == subscriptionID {
                subscription.renewal = renewal
            } else if renewal != nil {
                let detail = "no verified transaction belongs to the subscription of this renewal info"
                rejected.append(RejectedArtifact(path, .noTransaction, detail))
            }
        }
        subscriptions.append(subscription)
    }

    /// Verifies an artifact. If it is rejected, adds it to `rejected` and returns nil. Throws `untrusted` if verifying
    /// it later may succeed.
    private mutating func verifiedUnlessRejected<Output>(
        _ path: ArtifactPath, _ verify: () throws(Rejection) -> Output
    ) throws(AppStoreFailure) -> Output? {
        do {
            return try verify()
        } catch {
            if error.isRetryable { throw .untrusted(error) }
            rejected.append(RejectedArtifact(path, error))
            return nil
        }
    }
}
