extension Tenure {
    /// The products and the entitlements that they grant, from the service (`GET /v1/products`, requested once a day)
    /// or else from the policy. Nil if neither is available. If there is no stored response of the service, waits for a
    /// response.
    public var catalog: Tenure.ProductCatalog? {
        get async { await engine.knownCatalog() }
    }
}
