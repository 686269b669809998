package import Foundation

/// Names the customer whom an update is about, and says under which conditions the update is saved.
package struct CustomerUpdatePlan: Sendable {
    /// The identities that name the customer.
    let identities: [Identity]
    /// The environment of the App Store, or the test authority, that signed the artifacts.
    let realm: Realm
    /// The time of the update.
    let now: Date
    /// About how many artifacts, purchases and renewals the update adds.
    let size: Int
    /// What the artifacts prove about how the customer got the app, if the sender proved to be this customer (a *bound*
    /// sync). Nil for notifications and responses of the App Store, and for unbound customers (`DatabaseTransaction`).
    /// If nil, the identities alone find the customer.
    let acquisition: ProvenAcquisition?
    /// Where the update comes from.
    var source = UpdateSource.signedArtifacts

    package init(
        naming identities: [Identity], in realm: Realm, at now: Date, adding size: Int = 0,
        proving acquisition: ProvenAcquisition? = nil
    ) {
        self.identities = identities
        self.realm = realm
        self.now = now
        self.size = size
        self.acquisition = acquisition
    }

    /// The keys that the transaction that saves the update must lock.
    package var lockKeys: [LockKey] { identities.keys(in: realm) + otherKeys }

    /// The keys to lock besides the keys of the identities.
    var otherKeys: [LockKey] {
        guard case .notification(let notification) = source else { return [] }
        return [.notification(uuid: notification.uuid, notification.realm)]
    }

    /// Whether the update may fit into one transaction. If false, it needs several (`LargeUpdate`), because a larger
    /// transaction would keep the updates of other customers waiting.
    package var mayFitOneTransaction: Bool {
        lockKeys.count <= DatabaseTransaction.maximumKeys && size <= DatabaseTransaction.maximumEntriesInOnePiece
    }
}

/// Where an update comes from.
///
/// The source decides what must be true when the update is saved, and what is saved besides the customer.
enum UpdateSource: Sendable {
    /// Artifacts that prove who the sender is, as in most syncs. Such an update is saved in any case.
    case signedArtifacts
    /// A response of the App Store about the member (row of `customers`) with this row ID. The member may have been
    /// erased in the meantime.
    case appStoreResponse(member: Int64)
    /// An App Store Server Notification. The notification may be stored already, because the App Store repeats
    /// notifications.
    case notification(StoredNotification)
    /// Artifacts without proof that they belong to the sender, and the row IDs of the members whom they name.
    case unbound(members: [Int64])
    /// Artifacts without proof, as in `unbound`. Earlier transactions have created and linked the unbound customer.
    case linkedUnbound(Identity)
}

extension DatabaseTransaction {
    /// Whether the update can still be saved. False if the customer was erased, or if the notification is stored
    /// already.
    func stillApplies(_ plan: CustomerUpdatePlan) throws(StoreError) -> Bool {
        switch plan.source {
        case .signedArtifacts: true
        case .appStoreResponse(let member): try self.member(.rowID(member)) != nil
        case .notification(let notification): try !isKnown(notification, about: plan.identities)
        case .unbound(let members): try !lockExisting(members).isEmpty
        case .linkedUnbound(let unbound): try member(by: unbound, in: plan.realm) != nil
        }
    }

    /// Saves what belongs to the update besides the customer: a notification, or the links of an unbound customer.
    func complete(_ plan: CustomerUpdatePlan, for customer: Customer) throws(StoreError) {
        switch plan.source {
        case .signedArtifacts, .appStoreResponse, .linkedUnbound: break
        case .notification(let notification): try insert(notification, about: customer)
        case .unbound(let members):
            try unlink(customer.id, from: Set(try links(of: customer.id)).subtracting(members))
            try link(customer.id, to: Set(members).subtracting(try links(of: customer.id)))
        }
    }
}
