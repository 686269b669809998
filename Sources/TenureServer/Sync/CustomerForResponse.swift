import TenureAPI
import TenureCore
import TenureStore

/// What responses show about a stored customer.
extension Store {
    /// Returns the customer with the facts that a response may use.
    ///
    /// An unbound customer consists of artifacts without proof that they belong to the sender. The artifacts may have
    /// the IDs of other customers, and must not grant what those customers have lost. So the refunds, expirations and
    /// revocations of those customers limit the facts. Returns nil if the database no longer has those customers.
    func customerForResponse(_ customer: Customer) async throws(StoreError) -> Customer? {
        guard customer.facts.isUnbound else { return customer }
        let namedCustomers = try await read { try $0.customers(namedBy: customer) }
        return namedCustomers.isEmpty ? nil : UnboundCustomer(unbound: customer, customers: namedCustomers).limited
    }
}

extension Customer {
    /// Returns the customer's evidence. A persona replaces what is known about the app's acquisition.
    func evidence(as persona: Persona?) -> Evidence { facts.evidence(in: realm.environment, as: persona) }
}

extension CustomerAnswer {
    /// Creates the response about a customer, without tokens.
    init(_ customer: Customer, evidence: Evidence, decisions: [Decision]) {
        self.init(
            id: customer.publicID, bound: !customer.facts.isUnbound, environment: customer.realm.environment,
            isTest: customer.realm.isTest, decisions: decisions, purchases: evidence.purchases,
            purchasesAreComplete: evidence.purchasesAreComplete, persona: evidence.persona?.name)
    }
}
