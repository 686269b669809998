import Foundation
import TenureAppStore
import TenureJSON
import TenureStore

/// The facts that a verified notification proves, and the identities (IDs by which the database finds customers) of its
/// customer.
///
/// The facts follow only from the signed artifacts inside the notification, so notifications of unknown types are used
/// too.
struct NotificationContents: Sendable {
    let notification: StoredNotification
    /// What the artifacts inside the notification prove. The list of artifacts is empty, because the database stores
    /// the whole notification instead.
    private(set) var proven = ProvenArtifacts()

    /// Reads a verified notification. `bytes` is its JWS.
    init(_ verified: VerifiedNotification, bytes: [UInt8]) {
        let outer = verified.notification
        let uuid = outer.payload.notificationUUID ?? ""
        notification = StoredNotification(
            realm: Realm(outer.environment, isTest: !AppleAnchors.containAnchor(of: outer.certificates)),
            // A notification without a UUID is identified by its signed content.
            uuid: uuid.isEmpty ? "sha256 " + Base64.urlSafe.text(outer.signedContentDigest) : uuid,
            type: outer.payload.notificationType?.rawValue ?? "", subtype: outer.payload.subtype?.rawValue,
            signedDate: outer.signedDate, bytes: bytes)
        if let proof = verified.appTransaction?.proof { proven.proofs.append(proof) }
        // A transaction without an ID proves no purchase, but the notification is stored all the same.
        if let purchase = try? verified.transaction?.purchase { proven.purchases.append(purchase) }
        // Renewal info doesn't name its app. But the notification around it does, and was verified to be for this app.
        if let renewal = try? verified.renewalInfo?.renewal { proven.renewals.append(renewal) }
        if let transaction = verified.transaction {
            proven.namedIdentities.add(transaction.payload, proven.purchases.first)
        }
        if let renewalInfo = verified.renewalInfo {
            proven.namedIdentities.add(renewalInfo.payload, proven.renewals.first)
        }
        if let appTransaction = verified.appTransaction { proven.namedIdentities.add(appTransaction.payload) }
    }

    /// The identities that find the customer; empty for a notification about no customer, such as a test.
    var identities: [Identity] { proven.identities }

    /// Verifies a stored notification again, as of the date at which it was received. Throws if the notification can't
    /// be verified anymore.
    init(_ stored: StoredNotification, receivedAt: Date, verifiedBy verifier: AppStoreVerifier) throws(Rejection) {
        self.init(try verifier.verifyNotification(stored.bytes, now: receivedAt), bytes: stored.bytes)
    }

    /// Returns the update that adds these facts to a customer. `storedCustomer` is nil for a new customer.
    func update(of storedCustomer: Customer?) -> CustomerUpdate {
        var update = CustomerUpdate(of: storedCustomer)
        proven.add(to: &update, of: storedCustomer)
        // If a parent withdrew their consent, webhooks report this to the app's server, which has to lock out the
        // child. The customer keeps the purchases.
        if notification.type == NotificationType.rescindConsent.rawValue {
            update.messages.append(Message(.customerConsentRescinded, ["notification": notification.uuid]))
        }
        return update
    }
}
