import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds a change from one era (a period in which the app was paid, or free) to the next without a changeover window.
/// The window is the time around the change in which price and build may disagree. Without it, customers who come in
/// between may be assigned to the wrong era.
///
/// At the end of an honored era (customers of that era have an entitlement because of it), a missing window is a
/// mistake, which the reader of the policy file reports (ADR 3). At the beginning of an honored era, this rule reports
/// a warning.
extension LintRule {
    static let noChangeover = LintRule(
        "no-changeover", .error, "a dated change that gives or takes an entitlement, without `changeover`",
        rationale:
            "The price, the storefronts and the app's version rarely change together: someone who paid in the hours between may be an owner by the date and a new customer by the build, or the reverse.",
        fix:
            "Write `changeover: { from: -24h, until: +48h }`, or `changeover: none` if price and version changed at one instant."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() where era.changeover == nil {
            let changes = subject.changes.filter {
                $0.index == index && $0.date != nil && !$0.gainedEntitlements.isEmpty
            }
            guard let change = changes.first, let date = change.date,
                !subject.draft.hasValue(at: ["eras", .index(index), "changeover"]),
                !subject.draft.isBroken(["eras", .index(index), "changeover"])
            else { continue }
            // At the end of an honored era, it's a mistake, which is reported while the file is read.
            guard subject.entitlementsHonoring(era: change.previous).isEmpty else { continue }
            report.add(
                at: ["eras", .index(index)], severity: .warning,
                "`\(era.name.shortened)` doesn't state its changeover: customers who got the app just after \(date.rfc3339), in a storefront that hadn't changed yet, get \(inWords(change.gainedEntitlements)) anyway",
                fixes: .suggestion(
                    "write `changeover: { from: -24h, until: +48h }` for `\(era.name.shortened)`",
                    .write(.defaultChangeover, at: ["eras", .index(index), "changeover"])),
                "say in `changeover` how long price and build can have disagreed around the change, or `none` if they changed at one instant"
            )
        }
    }
}
