/// The mappings of a scenario file, and the keys of each.
enum ScenarioShape {
    case file, app, release, price, product, offer, sandbox, customer, step

    /// The keys that the mapping may have, in the order of messages. A key that the mapping must have has an example
    /// for the message about a missing key.
    private var fields: KeyValuePairs<String, String?> {
        switch self {
        case .file:
            [
                "scenario": "scenario: The Calculator disaster", "story": nil, "policy": nil, "seed": nil,
                "environment": nil, "sandbox": nil, "begins": "begins: 2014-01-01",
                "app": "app: { bundleID: com.example.calculator, … }", "customers": "customers: { Ada: {} }",
                "timeline": nil,
            ]
        case .app:
            [
                "bundleID": "bundleID: com.example.calculator", "appleID": "appleID: 828838134", "gracePeriodDays": nil,
                "releases": "releases: [{ platform: iOS, build: \"37\", version: \"1.4\", at: 2014-01-10 }]",
                "prices": nil, "products": nil,
            ]
        case .release:
            [
                "platform": "platform: iOS", "build": "build: \"37\"", "version": "version: \"1.4\"",
                "at": "at: 2014-01-10",
            ]
        case .price: ["from": "from: 2014-01-10", "price": "price: 4.99"]
        case .product:
            [
                "type": "type: nonConsumable", "price": "price: 9.99", "prices": nil, "group": nil, "level": nil,
                "period": nil, "familyShareable": nil, "introductory": nil, "offers": nil,
            ]
        case .offer:
            [
                "id": nil, "type": nil, "discount": "discount: freeTrial", "period": "period: P1W", "count": nil,
                "price": nil,
            ]
        case .sandbox: ["days": nil, "weeks": nil, "month": nil, "waitingDay": nil, "renewals": nil]
        case .customer: ["storefront": nil, "family": nil, "shows": nil]
        // The names of customers are keys too.
        case .step: ["at": nil, "after": nil, "store": nil, "service": nil, "expect": nil, "known": nil]
        }
    }

    var keys: [String] { fields.map(\.key) }
    /// The keys that the mapping must have, each with an example.
    var required: [(key: String, example: String)] {
        fields.compactMap { key, example in example.map { (key: key, example: $0) } }
    }
}
