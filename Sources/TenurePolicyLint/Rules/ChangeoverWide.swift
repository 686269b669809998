import Foundation
import TenureCore
import TenurePolicyFile

/// Generous is right, and a month is a giveaway: everybody who comes within the window is favored.
extension LintRule {
    static let changeoverWide = LintRule(
        "changeover-wide", .warning, "a changeover window of more than two weeks",
        story:
            "Within the window everybody may be an owner. Two days cover storefronts and caches; a month covers an advertising campaign.",
        fix: "Make it as long as price and binary can have disagreed: a day before, two after."
    ) { subject, report in
        for change in subject.changes where change.matters {
            guard let changeover = change.after.changeover?.window, let date = change.date,
                changeover.until - changeover.from > 14 * 86_400
            else { continue }
            let days = Int((changeover.until - changeover.from) / 86_400)
            let until = date.addingTimeInterval(changeover.until).rfc3339
            let consequence =
                change.lost.isEmpty || changeover.until <= 0 || subject.policy?.inDoubt == .undetermined
                ? "whoever came in them may belong to either era"
                : "anyone who installed the app until \(until) gets \(inWords(change.lost)) for nothing"
            report.add(
                at: ["eras", .index(change.index), "changeover"],
                "the window of `\(change.after.name.shortened)` is \(days) days wide: \(consequence)",
                fix: "write `{ from: -24h, until: +48h }`")
        }
    }
}
