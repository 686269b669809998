import Foundation
package import TenureCore
package import TenureStore

/// What tests ask a record, and how they act on it, by the verbs that the service has.
extension Store {
    /// Whom this very identity names.
    package func customer(by identity: Identity, in realm: Realm) async throws(StoreError) -> Customer? {
        for customer in try await customers(withAnyID: identity.value, in: [realm]) {
            let dossier = try await dossier(of: .number(customer.id), with: [])
            if dossier?.identities.contains(identity) == true { return customer }
        }
        return nil
    }

    package func promises(of customer: Int64) async throws(StoreError) -> [RecordedPromise] {
        try await ledger(of: customer)?.promises ?? []
    }

    /// The latest first.
    package func devices(of customer: Int64) async throws(StoreError) -> [CustomerDossier.Device] {
        let devices = try await dossier(of: .number(customer), with: [])?.devices ?? []
        return devices.sorted { ($1.lastSeen, $0.device) < ($0.lastSeen, $1.device) }
    }

    /// As support does, without a reason to tell; nil where nobody was there to do it for.
    @discardableResult
    package func record(
        _ act: SupportAct, for customer: Int64, reason: String? = nil, actor: String = "support"
    ) async throws(StoreError) -> Customer? {
        let requested: CustomerAct =
            switch act.kind {
            case .grant: .grant(entitlement: act.entitlement, until: act.until)
            case .revocation: .revoke(entitlement: act.entitlement)
            }
        let outcome = try await perform(
            RequestedAct(requested, actor: actor, reason: reason, at: act.date), on: .number(customer),
            by: Rederivation { _ throws(StoreError) in CustomerFacts() })
        guard case .done(let customer, _) = outcome else { return nil }
        return customer
    }

    /// Whether a notification was kept, for whomever.
    package func keepsNotification(_ uuid: String, in realm: Realm) async throws(StoreError) -> Bool {
        try await database.read { session throws(StoreError) in
            try session.row(
                "SELECT 1 FROM notifications WHERE realm = $1 AND uuid = $2",
                [.integer(Int64(realm.code)), .text(uuid)]) != nil
        }
    }

    /// As `tenure record rebuild` does.
    package func rebuild(
        _ customer: Int64, by derive: @escaping @Sendable (CustomerLedger) throws(StoreError) -> CustomerFacts
    ) async throws(StoreError) -> (customer: Customer, hasChanged: Bool)? {
        try await database.rebuild(customer, by: derive)
    }

    private var database: any SQLStore {
        get throws(StoreError) {
            guard let store = self as? any SQLStore else { throw .failed("it is no database") }
            return store
        }
    }
}
