import TenureCore
import TenurePolicyFile

/// A library's read-me says it plainly: the price and the release change at different times, in each storefront, and who buys
/// in between is misjudged. Tenure assumes no window (decision 0003), and so asks.
extension LintRule {
    static let noChangeover = LintRule(
        "no-changeover", .warning, "a dated change for which no changeover window is said",
        story:
            "Price, storefronts and binary never change together: who paid in the hours between is a newcomer by the one and an owner by the other.",
        fix: "Write `changeover: { from: -24h, until: +48h }`, or `{ from: 0, until: 0 }` if you mean none."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() where era.changeover == nil {
            let changes = subject.changes.filter { $0.index == index && $0.date != nil && $0.matters }
            guard let change = changes.first, let date = change.date,
                !subject.draft.says(["eras", .index(index), "changeover"]),
                !subject.draft.isBroken(["eras", .index(index), "changeover"])
            else { continue }
            let who =
                change.lost.isEmpty
                ? "whoever got the app as before just after \(date.rfc3339), where the store had not changed yet, gets \(inWords(change.gained)) all the same"
                : "whoever paid at the old price just after \(date.rfc3339) loses \(inWords(change.lost))\(change.version.map { ", and so does who got \(change.platform.key.rawValue) \($0) before it while no date is known" } ?? "")"
            report.add(
                at: ["eras", .index(index)],
                "no changeover window is said for `\(era.name.shortened)`: \(who)",
                fix: .suggestion(
                    "write `changeover: { from: -24h, until: +48h }` for `\(era.name.shortened)`",
                    .write(.usualChangeover, at: ["eras", .index(index), "changeover"])),
                "say how long price and build can have disagreed around the change")
        }
    }
}
