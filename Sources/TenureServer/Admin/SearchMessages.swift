package import TenureAPI

/// The body of `POST /v1/admin/customers/find`.
struct FindRequest: AdminRequest {
    /// A JWS, a notification, a receipt in Base64, or a response of verifyReceipt, as text.
    let artifact: String

    enum CodingKeys: String, CodingKey, CaseIterable { case artifact }
}

/// The customers in the response to a search, as a client decodes them.
package struct FoundCustomers: Sendable, Hashable, Decodable {
    package let customers: [Customer]

    /// A found customer.
    package struct Customer: Sendable, Hashable, Decodable {
        /// The public ID.
        package let id: String
        /// The App Store environment that signed the customer's artifacts.
        package let environment: String

        enum CodingKeys: String, CodingKey { case id, environment }
    }
}

/// The response of `GET /v1/admin/orders/{order}`, as a client reads it.
package struct OrderResponse: Sendable, Hashable, Decodable {
    /// Whether the App Store has this order of the app.
    package let isValid: Bool
    /// The verified purchases of the order.
    package let purchases: [PurchaseResponse]
    /// The artifacts that can't be verified.
    package let problems: [ArtifactProblem]
    /// The customers with these purchases.
    package let customers: [FoundCustomers.Customer]

    enum CodingKeys: String, CodingKey { case isValid, purchases, problems, customers }
}
