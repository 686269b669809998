package import Foundation
import TenureCore

extension SQLStore {
    package func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws(StoreError) -> Reception {
        let keys = identities.map { $0.key(in: notification.realm) }
        let own = "notification \(notification.realm.code) \(notification.uuid)"
        return try await write(locking: keys + [own]) { session throws(StoreError) in
            try Ledger(session, at: now).receive(notification, about: identities, change)
        }
    }

    package func beginTrialSession(
        _ name: String, of entitlement: String, for customer: Int64, at now: Date,
        if admits: @escaping @Sendable (Customer, TrialUse) -> Bool
    ) async throws(StoreError) -> (customer: Customer, use: TrialUse, isCounted: Bool)? {
        try await write(locking: []) { session throws(StoreError) in
            try Ledger(session, at: now).beginTrialSession(name, of: entitlement, for: customer, if: admits)
        }
    }

    package func begunSessions(of customer: Int64) async throws(StoreError) -> [String: BegunSessions] {
        try await read { session throws(StoreError) in try Ledger(session).begunSessions(of: customer) }
    }
}
