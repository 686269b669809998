@testable import TenureStore

extension DatabaseTransaction {
    /// Finds or creates a customer and saves an update, however large, in this transaction.
    func update<Outcome>(
        _ identities: [Identity], in realm: Realm, _ decide: (Customer?) -> (CustomerUpdate, Outcome)
    ) throws(StoreError) -> (Customer, Outcome) {
        let found = try findCustomer(try resolve(identities, in: realm), proving: nil)
        let (update, outcome) = decide(found.customer)
        return (try save(update, of: found), outcome)
    }
}
