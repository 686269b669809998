/// The mappings of a scenario file, and the keys of each.
enum ScenarioShape: String, CaseIterable, Sendable {
    case file, app, release, price, product, offer, sandbox, customer, step

    /// The keys that the mapping may have.
    var keys: [String] {
        switch self {
        case .file:
            ["scenario", "story", "policy", "seed", "environment", "sandbox", "begins", "app", "customers", "timeline"]
        case .app: ["bundleID", "appleID", "gracePeriodDays", "releases", "prices", "products"]
        case .release: ["platform", "build", "version", "at"]
        case .price: ["from", "price"]
        case .product:
            ["type", "price", "prices", "group", "level", "period", "familyShareable", "introductory", "offers"]
        case .offer: ["id", "type", "discount", "period", "count", "price"]
        case .sandbox: ["days", "weeks", "month", "waitingDay", "renewals"]
        case .customer: ["storefront", "family", "shows"]
        // The names of customers are keys too.
        case .step: ["at", "after", "store", "service", "expect", "known"]
        }
    }

    /// The keys that the mapping must have, each with an example for the message about a missing key.
    var required: [(key: String, example: String)] {
        switch self {
        case .file:
            [
                ("scenario", "scenario: The Calculator disaster"), ("begins", "begins: 2014-01-01"),
                ("app", "app: { bundleID: com.example.calculator, … }"), ("customers", "customers: { Ada: {} }"),
            ]
        case .app:
            [
                ("bundleID", "bundleID: com.example.calculator"), ("appleID", "appleID: 828838134"),
                ("releases", "releases: [{ platform: iOS, build: \"37\", version: \"1.4\", at: 2014-01-10 }]"),
            ]
        case .release:
            [
                ("platform", "platform: iOS"), ("build", "build: \"37\""), ("version", "version: \"1.4\""),
                ("at", "at: 2014-01-10"),
            ]
        case .price: [("from", "from: 2014-01-10"), ("price", "price: 4.99")]
        case .product: [("type", "type: nonConsumable"), ("price", "price: 9.99")]
        case .offer: [("discount", "discount: freeTrial"), ("period", "period: P1W")]
        case .sandbox, .customer, .step: []
        }
    }
}
