import TenureStore

extension Store {
    /// A customer with the facts on which an answer rests: all of them, or those of an unbound record less what is known
    /// against them now. Nil where the customers whom an unbound record names are gone.
    func answered(_ customer: Customer) async throws(StoreError) -> Customer? {
        guard customer.facts.isUnbound else { return customer }
        let named = try await customers(namedBy: customer.id)
        return named.isEmpty ? nil : UnboundRecord(record: customer, customers: named).limited
    }
}
