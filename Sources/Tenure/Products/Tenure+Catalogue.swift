import TenureCore

extension Tenure {
    /// The products of the policy and what they give; nil where the device has none.
    public var catalogue: ProductCatalogue? {
        get async { await engine.policy.map { ProductCatalogue($0) } }
    }
}
