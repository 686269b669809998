package import Foundation
import TenureCore

extension SQLStore {
    package func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws(StoreError) -> Reception {
        let own = "notification \(notification.realm.code) \(notification.uuid)"
        guard !identities.isEmpty else {
            return try await write(locking: [own]) { session throws(StoreError) in
                let ledger = Ledger(session, at: now)
                if let known = try ledger.reception(of: notification, about: identities) { return known }
                try ledger.insert(notification, about: nil)
                return Reception(isNew: true, customer: nil)
            }
        }
        var plan = PlannedAmendment(
            identities: identities, realm: notification.realm, now: now, change: { (change($0), ()) })
        plan.keys = [own]
        plan.condition = { ledger throws(StoreError) in try !ledger.isKnown(notification, about: identities) }
        plan.completion = { ledger, customer throws(StoreError) in try ledger.insert(notification, about: customer) }
        if let (customer, _) = try await carryOut(plan) { return Reception(isNew: true, customer: customer) }
        let known = try await read { session throws(StoreError) in
            try Ledger(session, at: now).reception(of: notification, about: identities)
        }
        guard let known else { throw .busy }
        return known
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
