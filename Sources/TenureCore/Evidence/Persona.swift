/// A test customer. If the verified evidence is of a test environment (Sandbox or Xcode), the persona replaces the real
/// customer (rule I4 of Docs/decision-rules.md).
public struct Persona: Sendable, Hashable {
    /// The name in lists and responses, such as `owner`.
    public let name: String
    /// The facts that this customer's app transaction would prove in production.
    public let proof: AppProof

    package init(name: String, proof: AppProof) {
        self.name = name
        self.proof = proof
    }
}
