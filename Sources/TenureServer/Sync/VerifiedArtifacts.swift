import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The artifacts of a sync, after each was verified by itself: the valid artifacts, and the rejected ones.
struct VerifiedArtifacts: Sendable {
    /// The verified app transaction; nil if the request had none, or if it was rejected.
    var appTransaction: SyncArtifact<AppTransactionPayload>?
    /// The verified receipt; nil if the request had none, or if it was rejected.
    var receipt: SyncArtifact<ReceiptPayload>?
    var transactions: [(artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)] = []
    var renewals: [(artifact: SyncArtifact<RenewalInfoPayload>, renewal: Renewal)] = []
    var rejected: [RejectedArtifact] = []
    /// Whether the client sent a list of transactions. By sending a list, even an empty one, the client says that the
    /// list has all of the customer's transactions.
    let listsAllPurchases: Bool
    /// The hash of the ID of the sender's device, as the database and entitlement tokens have it; nil if the client
    /// didn't send the ID. The client only claims the ID. An artifact can prove that it was signed for this ID, but not
    /// that the sender has the device.
    let hashedDevice: String?

    /// Verifies each artifact of a request.
    init(_ request: SyncRequest, on device: ClaimedDevice, verifiedBy verifier: AppStoreVerifier, now: Date) async {
        hashedDevice = device.verificationID?.hashed
        listsAllPurchases = request.transactions != nil
        if let jws = request.appTransaction {
            appTransaction = rejected.unlessRejected(.appTransaction) { () throws(Rejection) in
                let bytes = Array(jws.utf8)
                let verified = try verifier.verifyAppTransaction(bytes, from: .client, now: now)
                let isOnDevice = device.matches(try verified.payload.deviceBinding())
                return SyncArtifact(verified, .appTransaction, bytes, at: .appTransaction, isOnDevice: isOnDevice)
            }
        }
        if let base64 = request.receipt {
            receipt = rejected.unlessRejected(.receipt) { () throws(Rejection) in
                let bytes = try receiptBytes(base64: base64.utf8)
                let verified = try verifier.verifyReceipt(bytes, now: now)
                let isOnDevice = device.identifier.map { verified.payload.matches(deviceIdentifier: $0) } ?? false
                return SyncArtifact(verified, .receipt, bytes, at: .receipt, isOnDevice: isOnDevice)
            }
        }
        for (index, jws) in (request.transactions ?? []).enumerated() {
            // Verifying a long list takes as long as many short requests, so other tasks may run in between.
            if index % 32 == 31 { await Task.yield() }
            let path = ArtifactPath.transaction(index)
            let transaction = rejected.unlessRejected(path) { () throws(Rejection) in
                let bytes = Array(jws.utf8)
                let verified = try verifier.verifyTransaction(bytes, now: now)
                let isOnDevice = device.matches(try verified.payload.deviceBinding())
                let purchase = try verified.purchase
                return (SyncArtifact(verified, .transaction, bytes, at: path, isOnDevice: isOnDevice), purchase)
            }
            if let transaction { transactions.append(transaction) }
        }
        for (index, jws) in (request.renewalInfos ?? []).enumerated() {
            if index % 32 == 31 { await Task.yield() }
            let path = ArtifactPath.renewalInfo(index)
            let renewalInfo = rejected.unlessRejected(path) { () throws(Rejection) in
                let bytes = Array(jws.utf8)
                let verified = try verifier.verifyRenewalInfo(bytes, now: now)
                let renewal = try verified.renewal
                // Renewal info counts only with a transaction of its subscription, so its device isn't checked.
                return (SyncArtifact(verified, .renewalInfo, bytes, at: path, isOnDevice: false), renewal)
            }
            if let renewalInfo { renewals.append(renewalInfo) }
        }
        keepOneRealm()
    }

    /// The realm (the environment, and whether Apple or a test authority signed) of the app transaction, otherwise of
    /// the receipt, otherwise of the first transaction. Nil if none of these was accepted.
    var realm: Realm? { appTransaction?.realm ?? receipt?.realm ?? transactions.first?.artifact.realm }

    /// The maximum number of artifacts, purchases and renewals to save. It decides whether one database transaction is
    /// enough. An App Store transaction adds an artifact and a purchase, and renewal info adds an artifact and a
    /// renewal. The app transaction and the receipt add one artifact each. A receipt also adds its purchases.
    var size: Int { 2 * (transactions.count + renewals.count) + (receipt?.verified.purchases.count ?? 0) + 2 }

    /// Whether one of the rejected artifacts may be accepted later.
    var mayBeAcceptedLater: Bool { rejected.contains(where: \.isRetryable) }

    /// Rejects artifacts of another realm than `realm`. Artifacts of two realms are never used together.
    private mutating func keepOneRealm() {
        guard let realm else { return }
        func rejection(of path: ArtifactPath, in other: Realm) -> RejectedArtifact? {
            guard other != realm else { return nil }
            let detail =
                other.environment == realm.environment
                ? "the artifact was signed by another certificate authority than the other artifacts"
                : "the artifact is from \(other.environment.rawValue), but other artifacts are from \(realm.environment.rawValue)"
            return RejectedArtifact(path, .wrongEnvironment, detail + "; send the artifact separately")
        }
        if let artifact = receipt, let rejection = rejection(of: artifact.path, in: artifact.realm) {
            receipt = nil
            rejected.append(rejection)
        }
        rejected += transactions.compactMap { rejection(of: $0.artifact.path, in: $0.artifact.realm) }
        transactions.removeAll { $0.artifact.realm != realm }
        rejected += renewals.compactMap { rejection(of: $0.artifact.path, in: $0.artifact.realm) }
        renewals.removeAll { $0.artifact.realm != realm }
    }
}

extension ClaimedDevice {
    /// Whether an artifact was signed for this device.
    fileprivate func matches(_ binding: DeviceVerification?) -> Bool {
        guard let binding, let verificationID else { return false }
        return binding.matches(deviceVerificationID: verificationID)
    }
}
