extension Tenure {
    /// The products and what they give: as the service says (`GET /v1/products`, once a day and kept), else as the device's
    /// policy does; nil where nobody says. Waits for the service where nothing is known of it yet.
    public var catalogue: Tenure.ProductCatalogue? {
        get async { await engine.knownCatalogue() }
    }
}
