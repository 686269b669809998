/// A job for a customer, in the database, so that the job outlives the process that created it.
package struct StoredJob: Sendable, Hashable {
    /// What the job does.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Fetch the customer's history from the App Store.
        case history
    }

    package let id: Int64
    package let kind: Kind
    /// The customer, named as the member for which the job was created.
    package let customer: Customer
    /// The identities of that member; if the App Store accepts none of them, those of all members.
    package let identities: [Identity]
    /// How often the job was taken before.
    package let tries: Int
}
