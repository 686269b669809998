/// Work on a customer that waits in the database, so that it outlives the process that asked for it.
package struct StoredJob: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Ask the App Store for all that it knows of them.
        case history
    }

    package let id: Int64
    package let kind: Kind
    /// Named as the one of those who are one for whom it was made.
    package let customer: Customer
    /// By what the customer for whom it was made is known; where the App Store knows none of that, by what all who are
    /// one with them are.
    package let identities: [Identity]
    /// How often somebody took it before.
    package let tries: Int
}
