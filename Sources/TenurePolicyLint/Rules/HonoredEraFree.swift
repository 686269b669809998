import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds an honor for an era in which the app was free. The author may have swapped two eras.
extension LintRule {
    static let honoredEraFree = LintRule(
        "honored-era-free", .warning, "an honor for an era in which the app was free",
        rationale:
            "One developer swapped a comparison, and all new customers got everything. Customers who came while the app was free haven't paid for anything.",
        fix:
            "List the paid eras under `honors`. Keep a free era only if you promised the entitlement to everyone who came in that era."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors where subject.eras[index].model == .free {
            guard !subject.draft.isBroken(["eras", .index(index), "model"]) else { continue }
            let isLast = index == subject.eras.count - 1
            let end =
                honor.until.map { "until \($0.rfc3339)" }
                ?? (honor.length.map { "for \($0.iso8601)" } ?? "permanently")
            let window = honor.boughtSince != nil || honor.boughtBefore != nil ? " within the dates" : ""
            report.add(
                at: path,
                isLast
                    ? "anyone who installs the app today\(window) gets `\(entitlement.name.shortened)` \(end) for nothing: `\(honor.era)` is free and is the current era"
                    : "everyone who got the app in `\(honor.era)`\(window) has `\(entitlement.name.shortened)` \(end), but the app was free then",
                fix: .suggestion(
                    "remove `\(honor.era)` from `honors`, or correct its `model` if the app was sold then",
                    .remove(path)),
                "honor only eras in which the app was sold, or correct the era's model")
        }
    }
}
