import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// What a verified notification proves, and of whom.
///
/// The type says what happened. The customer's facts follow only from the nested artifacts, so notifications of unknown
/// types count too.
struct NotificationContents: Sendable {
    let notification: StoredNotification
    private(set) var proofs: [AppProof] = []
    private(set) var purchases: [Purchase] = []
    private(set) var renewals: [Renewal] = []
    private var names = NamedIdentities()

    init(_ verified: VerifiedNotification, bytes: [UInt8]) {
        let outer = verified.notification
        let uuid = outer.payload.notificationUUID ?? ""
        notification = StoredNotification(
            realm: Realm(outer.environment, isTest: !AppleAnchors.signed(outer.certificates)),
            // One without a name is known by what was signed.
            uuid: uuid.isEmpty ? "sha256 " + Base64.urlSafe.text(outer.signedContentDigest) : uuid,
            type: outer.payload.notificationType?.rawValue ?? "", subtype: outer.payload.subtype?.rawValue,
            signedDate: outer.signedDate, bytes: bytes)
        if let proof = verified.appTransaction?.proof { proofs.append(proof) }
        // One that names no transaction proves nothing, and is kept all the same.
        if let purchase = try? verified.transaction?.purchase { purchases.append(purchase) }
        // The notification names the app for which it speaks.
        if let renewal = try? verified.renewalInfo?.renewal { renewals.append(renewal) }
        if let transaction = verified.transaction { names.add(transaction.payload, purchases.first) }
        if let renewalInfo = verified.renewalInfo { names.add(renewalInfo.payload, renewals.first) }
        if let appTransaction = verified.appTransaction { names.add(appTransaction.payload) }
    }

    /// The identities that find the customer; empty for a notification about no customer, such as a test.
    var identities: [Identity] { names.identities }

    /// Reads a stored notification for its customer's facts, and verifies it again as of the day it came.
    ///
    /// Throws where it does not verify any more.
    init(
        _ stored: StoredNotification, receivedAt: Date, by verifier: AppStoreVerifier
    ) throws(Rejection) {
        self.init(try verifier.verifyNotification(stored.bytes, now: receivedAt), bytes: stored.bytes)
    }

    /// What is known of a customer with what this proves.
    func update(of known: Customer?) -> CustomerUpdate {
        var update = CustomerUpdate(of: known)
        update.add([], proving: proofs, purchases: purchases, renewals: renewals)
        update.identify(by: identities + names.forPeople(beyond: known))
        // What was bought stays the account's; whether the app still opens for a child is the app's to enforce.
        if notification.type == NotificationType.rescindConsent.rawValue {
            update.messages.append(Message(.customerConsentRescinded, ["notification": notification.uuid]))
        }
        return update
    }
}

extension CustomerFacts {
    mutating func add(_ contents: NotificationContents) {
        add(contents.proofs)
        add(contents.purchases)
        add(contents.renewals)
    }
}
