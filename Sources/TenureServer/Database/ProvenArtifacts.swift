import TenureCore
import TenureStore

/// The verified artifacts of one customer, and what they prove together.
struct ProvenArtifacts: Sendable {
    /// The artifacts, as the database stores them.
    var artifacts: [Artifact] = []
    /// What app transactions and receipts prove about getting the app.
    var proofs: [AppProof] = []
    var purchases: [Purchase] = []
    var renewals: [Renewal] = []
    /// The IDs by which the service and support find the customer again.
    var namedIdentities = NamedIdentities()

    /// The identities by which the database finds the customer.
    var identities: [Identity] { namedIdentities.identities }

    /// The proven facts. They are added at once, because each addition to the facts processes all existing facts again.
    var facts: CustomerFacts {
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
        return facts
    }

    /// Adds the artifacts, the facts and the identities to an update of a customer.
    ///
    /// - Parameter storedCustomer: The customer to update; nil for a new customer.
    func add(to update: inout CustomerUpdate, of storedCustomer: Customer?) {
        update.add(artifacts, proving: proofs, purchases: purchases, renewals: renewals)
        update.identify(by: identities + namedIdentities.searchableIdentities(beyond: storedCustomer))
    }
}
