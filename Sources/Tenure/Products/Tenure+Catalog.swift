extension Tenure {
    /// The products and what they grant, from the service (`GET /v1/products`, asked once a day) or else from the
    /// policy. Nil if neither is available. Waits for the service if it hasn't answered yet.
    public var catalog: Tenure.ProductCatalog? {
        get async { await engine.knownCatalog() }
    }
}
