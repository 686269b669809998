import TenureCore
import TenurePolicyFile

/// Finds an entitlement that customers get neither by buying a product nor by having acquired the app in a certain era
/// (a period in which the app was paid, or free).
extension LintRule {
    static let entitlementWithoutSource = LintRule(
        "entitlement-without-source", .error, "an entitlement without products and without honored eras",
        rationale:
            "Customers who pay for such an entitlement get nothing. In one app, a library silently ignored the second registration of an entitlement, which then had no products.",
        fix: "Add `products`, `honors`, or both, or remove the entitlement."
    ) { subject, report in
        for entitlement in subject.entitlements where entitlement.products.isEmpty {
            let path: [PolicyMistake.Step] = ["entitlements", .key(entitlement.name)]
            let applying = (entitlement.honors ?? []).filter { honor in
                subject.eras.firstIndex { $0.name == honor.era }.map { index in
                    subject.platforms.isEmpty || subject.platforms.contains { $0.timeline.eras.contains(index) }
                } ?? false
            }
            guard applying.isEmpty else { continue }
            let trial = entitlement.trial == nil ? "" : " after its trial"
            report.add(
                at: path,
                "customers can have `\(entitlement.name.shortened)`\(trial) only by a grant of support: it has no products and honors no era",
                fixes: "add `products`, `honors`, or both, or remove the entitlement"
            )
        }
    }
}
