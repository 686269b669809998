/// Every key of a policy file. The reader, writer, schema and documentation share this table.
enum PolicyKey: String, CaseIterable, Sendable {
    case app, bundleID, appleID
    case eras, name, model, begins, changeover, from, until
    case build, version, at
    case buildNumbers
    case releases, platform, releasedAt
    case entitlements, title, products, id, `for`, honors, era, boughtSince, boughtBefore, trial, sessions, days
    case inDoubt
    case whileUndetermined, allow
    case testEnvironments
    case acknowledge, code, reason
}

/// The kinds of mappings in a policy file, and the keys of each kind in the order in which they are written.
enum PolicyShape: String, CaseIterable, Sendable {
    case policy, app, era, begins, buildBeginning, versionBeginning, changeover, release
    case entitlement, product, honor, trial, whileUndetermined, acknowledgment

    /// The keys that the mapping may have. The mapping `begins` has no keys here, because its keys are platforms.
    var keys: [PolicyKey] {
        switch self {
        case .policy:
            [
                .app, .eras, .buildNumbers, .releases, .entitlements, .inDoubt, .whileUndetermined, .testEnvironments,
                .acknowledge,
            ]
        case .app: [.bundleID, .appleID]
        case .era: [.name, .model, .begins, .changeover]
        case .begins: []
        case .buildBeginning: [.build, .at]
        case .versionBeginning: [.version, .at]
        case .changeover: [.from, .until]
        case .release: [.platform, .version, .build, .releasedAt, .model]
        case .entitlement: [.title, .products, .honors, .trial]
        case .product: [.id, .title, .for]
        case .honor: [.era, .boughtSince, .boughtBefore, .for, .until]
        case .trial: [.sessions, .days]
        case .whileUndetermined: [.allow]
        case .acknowledgment: [.code, .at, .reason]
        }
    }

    /// The keys that the mapping must have, each with an example for the message about a missing key. The message puts
    /// backticks around the example, so an example of two values has the two inner backticks.
    var required: [(key: PolicyKey, example: String)] {
        switch self {
        case .policy:
            [
                (.app, "app: { bundleID: com.example.calculator }"),
                (.eras, "eras: [{ name: paid, model: paid }]"),
                (.entitlements, "entitlements: { everything: { honors: [paid] } }"),
            ]
        case .app: [(.bundleID, "bundleID: com.example.calculator")]
        case .era: [(.name, "name: paid"), (.model, "model: paid` or `model: free")]
        case .release: [(.platform, "platform: iOS")]
        case .product: [(.id, "id: com.example.calculator.season")]
        case .honor: [(.era, "era: paid")]
        case .whileUndetermined: [(.allow, "allow: 72h")]
        case .acknowledgment:
            [
                (.code, "code: changeover-wide"), (.at, "at: eras/freemium/changeover"),
                (.reason, "reason: the price fell in each storefront on its own day"),
            ]
        case .begins, .buildBeginning, .versionBeginning, .changeover, .entitlement, .trial: []
        }
    }
}
