import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// What a verified notification proves, and of whom.
///
/// Its type says what happened; what a customer has follows from the nested artifacts alone, so that a type that nobody
/// knows yet counts as much as any other.
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

    /// By what the customer is found; empty where it speaks of nobody, as a test does.
    var identities: [Identity] { names.identities }

    /// What a notification of the record contributes to its customer's facts, verified anew as on the day it came.
    ///
    /// Throws where it does not verify any more.
    init(
        _ stored: StoredNotification, receivedAt: Date, by verifier: AppStoreVerifier
    ) throws(Rejection) {
        self.init(try verifier.verifyNotification(stored.bytes, now: receivedAt), bytes: stored.bytes)
    }

    /// What is known of a customer with what this proves.
    func amendment(of known: Customer?) -> Amendment {
        var amendment = Amendment(of: known)
        amendment.add([], proving: proofs, purchases: purchases, renewals: renewals)
        amendment.identify(by: identities + names.forPeople(beyond: known))
        // What was bought stays the account's; whether the app still opens for a child is the app's to enforce.
        if notification.type == NotificationType.rescindConsent.rawValue {
            amendment.messages.append(Message(.customerConsentRescinded, ["notification": notification.uuid]))
        }
        return amendment
    }
}

extension CustomerFacts {
    mutating func add(_ contents: NotificationContents) {
        add(contents.proofs)
        add(contents.purchases)
        add(contents.renewals)
    }
}
