import TenureStore

extension Store {
    /// Returns the customer with the facts that a response may use. Known refunds, expirations and revocations limit those
    /// of an unbound customer. Returns nil if the customers that it's linked to are gone.
    func answered(_ customer: Customer) async throws(StoreError) -> Customer? {
        guard customer.facts.isUnbound else { return customer }
        let named = try await read { try $0.customers(namedBy: customer) }
        return named.isEmpty ? nil : UnboundCustomer(unbound: customer, customers: named).limited
    }
}
