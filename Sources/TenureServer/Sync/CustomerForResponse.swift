import TenureStore

extension Store {
    /// Returns the customer with the facts that a response may use.
    ///
    /// An unbound customer consists of artifacts without proof that they belong to the sender. The artifacts may have
    /// the IDs of other customers, and must not grant what those customers have lost. So the refunds, expirations and
    /// revocations that the database has of those customers limit the facts. Returns nil if those customers aren't in
    /// the database anymore.
    func customerForResponse(_ customer: Customer) async throws(StoreError) -> Customer? {
        guard customer.facts.isUnbound else { return customer }
        let namedCustomers = try await read { try $0.customers(namedBy: customer) }
        return namedCustomers.isEmpty ? nil : UnboundCustomer(unbound: customer, customers: namedCustomers).limited
    }
}
