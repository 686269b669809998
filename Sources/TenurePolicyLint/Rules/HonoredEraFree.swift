import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds an honor (an entry under `honors`, which gives an entitlement to the customers of an `Era`) for an era in
/// which the app was free. The author of the policy may have swapped two eras.
extension LintRule {
    static let honoredEraFree = LintRule(
        "honored-era-free", .warning, "an honor for an era in which the app was free",
        rationale:
            "One developer swapped a comparison, and all new customers got everything. Customers who came while the app was free haven't paid for anything.",
        fix:
            "List the paid eras under `honors`. Keep a free era only if you promised the entitlement to everyone who got the app in that era."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors where subject.eras[index].model == .free {
            guard !subject.draft.isBroken(["eras", .index(index), "model"]) else { continue }
            // Whether customers still get the entitlement through this honor, today or at a later time.
            let isOpen =
                subject.eras.indices.allSatisfy { $0 <= index || subject.plannedBeginning(of: $0) != nil }
                && (subject.now == .distantFuture || honor.boughtBefore.map { $0 > subject.now } ?? true)
            let start = [subject.plannedBeginning(of: index), honor.boughtSince].compactMap { $0 }
                .filter { $0 > subject.now }.max()
            let ends = [
                honor.length.map { "until \($0.inWords) after the end of `\(honor.era)`" },
                honor.until.map { "until \($0.rfc3339)" },
            ].compactMap { $0 }
            let end = ends.isEmpty ? "permanently" : ends.joined(separator: ", at the latest ")
            let customers =
                start.map { "from \($0.rfc3339) on, anyone who installs the app" }
                ?? "anyone who installs the app today"
            let window = honor.boughtSince != nil || honor.boughtBefore != nil ? " within the dates" : ""
            report.add(
                at: path,
                isOpen
                    ? "\(customers)\(window) gets `\(entitlement.name.shortened)` \(end) for nothing: `\(honor.era)` is free\(start == nil ? " and is the current era" : "")"
                    : "everyone who got the app in `\(honor.era)`\(window) has `\(entitlement.name.shortened)` \(end), but the app was free then",
                fixes: .suggestion(
                    "remove `\(honor.era)` from `honors`, or correct the era's `model` if the app was sold then",
                    .remove(path)),
                "honor only eras in which the app was sold, or correct the era's model")
        }
    }
}
