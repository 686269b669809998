import TenureCore
import TenurePolicyFile

/// Finds a product that grants only entitlements that all customers already have.
extension LintRule {
    static let productGivesNothing = LintRule(
        "product-gives-nothing", .warning, "a product with only entitlements that all customers have anyway",
        rationale:
            "A customer of one app was charged for something that they had always owned, and asked for a refund in public.",
        fix: "In `honors`, remove the eras of the customers who should buy the product, or stop selling the product."
    ) { subject, report in
        let owned = Set(subject.entitlements.filter(subject.isPermanentForAll).map(\.name))
        guard !owned.isEmpty else { return }
        var givingNames: [String: [String]] = [:]
        for entitlement in subject.entitlements {
            for product in Set(entitlement.products.map(\.id)) {
                givingNames[product, default: []].append(entitlement.name)
            }
        }
        var reported: Set<String> = []
        for entitlement in subject.entitlements where owned.contains(entitlement.name) {
            for (number, product) in entitlement.products.enumerated() {
                let giving = givingNames[product.id] ?? []
                guard giving.allSatisfy(owned.contains), reported.insert(product.id).inserted else { continue }
                report.add(
                    at: ["entitlements", .key(entitlement.name), "products", .index(number)],
                    "customers who buy `\(product.id.shortened)` get nothing new: customers of every era already have \(inWords(giving))",
                    fixes:
                        "in `honors`, remove the eras of the customers who should buy the product, or stop selling the product"
                )
            }
        }
    }
}
