/// A job in the database: to fetch a customer's history of purchases from the App Store. The job outlives the process
/// that created it.
package struct StoredJob: Sendable, Hashable {
    /// The row ID of the job.
    package let id: Int64
    /// The customer. `Customer.member` is the member (row of `customers`) for which the job was created.
    package let customer: Customer
    /// The identities of that member; if the App Store accepts none of them, those of all members.
    package let identities: [Identity]
    /// How many times the job was taken before.
    package let tries: Int
}
