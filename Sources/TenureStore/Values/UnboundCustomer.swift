/// An unbound customer, and the customers that its artifacts name. An unbound customer is a list of artifacts that came
/// without proof that they belong to the sender.
package struct UnboundCustomer: Sendable {
    package let unbound: Customer
    /// The customers that the artifacts name.
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
