import TenureStore

extension Store {
    /// Returns the customer with the facts that a response may use.
    ///
    /// An unbound customer consists of artifacts without proof that they belong to the sender. The artifacts may have
    /// the IDs of other customers, and must not grant what those customers have lost. So known refunds, expirations and
    /// revocations of those customers limit the facts. Returns nil if those customers aren't in the database anymore.
    func customerForResponse(_ customer: Customer) async throws(StoreError) -> Customer? {
        guard customer.facts.isUnbound else { return customer }
        let named = try await read { try $0.customers(namedBy: customer) }
        return named.isEmpty ? nil : UnboundCustomer(unbound: customer, customers: named).limited
    }
}
