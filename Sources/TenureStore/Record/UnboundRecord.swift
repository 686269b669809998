/// What somebody sent without proving that it is theirs, and the customers whom it names.
package struct UnboundRecord: Sendable {
    package let record: Customer
    package let customers: [Customer]

    package init(record: Customer, customers: [Customer]) {
        self.record = record
        self.customers = customers
    }

    /// The record as answers may use it; see `CustomerFacts.limited`.
    package var limited: Customer {
        record.knowing(record.facts.limited(by: customers.map(\.facts), in: record.realm.environment))
    }
}
