/// The kinds of mappings in a file of policy cases, and the keys of each kind. `Docs/policy-cases.md` explains the
/// keys.
enum CaseShape: String, CaseIterable, Sendable {
    case file, policyCase, app, persona, transaction, renewal, support, promise, given, expectation

    /// The keys that the mapping may have.
    var keys: [String] {
        switch self {
        case .file: ["now", "policy", "cases"]
        case .policyCase: ["name", "policy"] + Self.evidenceKeys + ["persona", "promises", "now", "expect"]
        case .app: Self.appKeys
        case .persona: ["name"] + Self.appKeys.filter { $0 != "environment" }
        case .transaction:
            [
                "productID", "type", "purchaseDate", "expiresDate", "revocationDate", "isUpgraded", "familyShared",
                "transactionID", "originalTransactionID", "signedDate", "environment",
            ]
        case .renewal:
            ["originalTransactionID", "productID", "gracePeriodExpiresDate", "isInBillingRetryPeriod", "signedDate"]
        case .support: ["grant", "revocation", "date", "until"]
        case .promise: ["entitlement", "given", "until"]
        case .given: ["policy", "app", "now"]
        case .expectation: ["outcome", "until", "reasons", "notReasons", "nextSteps", "sentence", "notSentence"]
        }
    }

    /// The keys of a case that describe the customer's artifacts.
    private static let evidenceKeys = [
        "environment", "app", "transactions", "renewals", "purchasesComplete", "support",
    ]
    /// The keys of an app transaction or a receipt.
    private static let appKeys = [
        "kind", "signedDate", "appTransactionID", "downloadID", "originalPlatform", "originalAppVersion",
        "originalPurchaseDate", "preorderDate", "revocationDate", "expirationDate", "environment",
    ]

    /// The keys that the mapping must have, each with an example for the message.
    var required: [(key: String, example: String)] {
        switch self {
        case .file: [("cases", "cases: [{ name: …, app: {…}, expect: {…} }]")]
        case .policyCase: [("name", "name: bought build 37 in 2014"), ("expect", "expect: { everything: granted }")]
        case .transaction: [("productID", "productID: com.example.calculator.everything")]
        case .promise: [("entitlement", "entitlement: everything")]
        case .expectation: [("outcome", "outcome: granted")]
        case .app, .persona, .renewal, .support, .given: []
        }
    }
}
