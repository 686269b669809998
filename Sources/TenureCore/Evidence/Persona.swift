/// A customer to rehearse with: stands in for the one who came, and only beside evidence verified as non-production.
public struct Persona: Sendable, Hashable {
    public let name: String
    /// What this customer's app transaction would prove in production.
    public let proof: AppProof

    package init(name: String, proof: AppProof) {
        self.name = name
        self.proof = proof
    }
}
