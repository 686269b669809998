/// An unbound customer, and the customers that its artifacts name.
package struct UnboundCustomer: Sendable {
    package let unbound: Customer
    package let customers: [Customer]

    package init(unbound: Customer, customers: [Customer]) {
        self.unbound = unbound
        self.customers = customers
    }

    /// The unbound customer with the facts that a response may use; see `CustomerFacts.limited`.
    package var limited: Customer {
        unbound.replacingFacts(with: unbound.facts.limited(by: customers.map(\.facts), in: unbound.realm.environment))
    }
}
