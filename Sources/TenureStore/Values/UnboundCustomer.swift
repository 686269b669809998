/// What somebody sent without proving that it is theirs, and the customers whom it names.
package struct UnboundCustomer: Sendable {
    package let unbound: Customer
    package let customers: [Customer]

    package init(unbound: Customer, customers: [Customer]) {
        self.unbound = unbound
        self.customers = customers
    }

    /// The unbound as answers may use it; see `CustomerFacts.limited`.
    package var limited: Customer {
        unbound.knowing(unbound.facts.limited(by: customers.map(\.facts), in: unbound.realm.environment))
    }
}
