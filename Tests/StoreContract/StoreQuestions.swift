import Foundation
package import TenureCore
package import TenureStore

/// Reads and changes for tests, through the operations that the service uses.
extension Store {
    /// The customer with exactly this identity.
    package func customer(by identity: Identity, in realm: Realm) async throws(StoreError) -> Customer? {
        for customer in try await read({ try $0.customers(withAnyID: identity.value, in: [realm]) }) {
            let details = try await read { try $0.details(of: .rowID(customer.id), with: []) }
            if details?.identities.contains(identity) == true { return customer }
        }
        return nil
    }

    package func promises(of customer: Int64, line: Int = #line) async throws -> [StoredPromise] {
        try unwrap(try await read { try $0.rows(of: customer) }, "the customer", line: line).promises
    }

    /// The customer's events, in the order in which they happened.
    package func events(of customer: Int64, line: Int = #line) async throws -> [StoredEvent] {
        try await details(of: customer, line: line).events
    }

    /// The customer's devices, the latest first.
    package func devices(of customer: Int64, line: Int = #line) async throws -> [CustomerDetails.Device] {
        let devices = try await details(of: customer, line: line).devices
        return devices.sorted { ($1.lastSeen, $0.device) < ($0.lastSeen, $1.device) }
    }

    private func details(of customer: Int64, line: Int) async throws -> CustomerDetails {
        try unwrap(
            try await read { try $0.details(of: .rowID(customer), with: []) }, "the customer", line: line)
    }

    /// Grants or revokes as support does, without a reason. Returns nil if the customer doesn't exist.
    @discardableResult
    package func record(
        _ grant: SupportGrant, for customer: Int64, reason: String? = nil, actor: String = "support"
    ) async throws(StoreError) -> Customer? {
        let requested: CustomerChange =
            switch grant.kind {
            case .grant: .grant(entitlement: grant.entitlement, until: grant.until)
            case .revocation: .revoke(entitlement: grant.entitlement)
            }
        let outcome = try await perform(
            RequestedChange(requested, actor: actor, reason: reason, at: grant.date), on: .rowID(customer),
            using: Rederivation { _ throws(StoreError) in CustomerFacts() })
        guard case .done(let customer, _) = outcome else { return nil }
        return customer
    }

    /// Returns whether a notification is stored, with or without a customer.
    package func keepsNotification(_ uuid: String, in realm: Realm) async throws(StoreError) -> Bool {
        try await database.read { session throws(StoreError) in
            try session.row(
                "SELECT 1 FROM notifications WHERE realm = $1 AND uuid = $2",
                [.integer(Int64(realm.code)), .text(uuid)]) != nil
        }
    }
}
