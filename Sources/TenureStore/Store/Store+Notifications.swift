package import Foundation
import TenureCore

/// Receives App Store Server Notifications.
extension Store {
    /// Stores a notification once, and adds what it proves to the customer whom the identities name. Creates the
    /// customer if the identities name no customer. Without identities, the notification is stored without a customer.
    ///
    /// A notification that was received before changes nothing. A notification about an erased customer isn't stored.
    ///
    /// - Parameters:
    ///   - identities: what the notification says about whom it concerns.
    ///   - decide: returns what the notification adds to the customer (nil for a new customer).
    package func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ decide: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws(StoreError) -> Reception {
        let key = LockKey.notification(uuid: notification.uuid, notification.realm)
        guard !identities.isEmpty else {
            return try await write(at: now, locking: [key]) { transaction in
                if let known = try transaction.reception(of: notification, about: identities) { return known }
                try transaction.insert(notification, about: nil)
                return Reception(isNew: true, customer: nil)
            }
        }
        var plan = CustomerUpdatePlan(naming: identities, in: notification.realm, at: now)
        plan.source = .notification(notification)
        if let (customer, _) = try await update(plan, decide: { (decide($0), ()) }) {
            return Reception(isNew: true, customer: customer)
        }
        let known = try await read(at: now) { try $0.reception(of: notification, about: identities) }
        guard let known else { throw .busy }
        return known
    }
}
