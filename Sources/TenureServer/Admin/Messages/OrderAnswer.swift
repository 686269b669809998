package import TenureAPI
package import TenureCore
import TenureJSON

/// `GET /v1/admin/orders/{order}`: what the App Store says of an order id, and whom it belongs to.
package struct OrderAnswer: Sendable, Hashable {
    /// Whether the App Store knows it as an order of this app.
    package let isValid: Bool
    /// What was bought with it, as far as it could be verified.
    package let purchases: [Purchase]
    /// What could not.
    package let problems: [ArtifactProblem]
    package let customers: [FoundCustomer]

    package init(isValid: Bool, purchases: [Purchase], problems: [ArtifactProblem], customers: [FoundCustomer]) {
        self.isValid = isValid
        self.purchases = purchases
        self.problems = problems
        self.customers = customers
    }
}

/// The same as a client reads it.
package struct OrderResponse: Sendable, Hashable, Decodable {
    package let isValid: Bool
    package let purchases: [PurchaseResponse]
    package let problems: [ArtifactProblem]
    package let customers: [Customer]

    package struct Customer: Sendable, Hashable, Decodable {
        package let id: String
        package let environment: String
        package let createdAt: String
    }
}

extension JSONWriter {
    package mutating func value(_ answer: OrderAnswer) {
        object { json in
            json.key("isValid")
            json.value(answer.isValid)
            json.key("purchases")
            json.array(answer.purchases) { $0.value($1) }
            json.key("problems")
            json.array(answer.problems) { $0.value($1) }
            json.key("customers")
            json.array(answer.customers) { $0.value($1) }
        }
    }
}
