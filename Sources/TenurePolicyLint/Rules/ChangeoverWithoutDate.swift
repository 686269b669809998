import TenureCore
import TenurePolicyFile

/// Finds a changeover window (the time around the beginning of an era in which price and build may disagree) that has
/// no effect: the beginning has no date, or the era is the first one.
extension LintRule {
    static let changeoverWithoutDate = LintRule(
        "changeover-without-date", .warning, "a changeover window without an instant",
        rationale: "A window surrounds the instant of the change; without that instant, the window has no effect.",
        fix: "Add `at` to the era's beginning on each platform. In the first era, remove `changeover`."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() where era.changeover?.window != nil {
            let undated = era.begins.filter { if case .at(_, nil) = $0.value { true } else { false } }.map(
                \.key.rawValue
            ).filter { !subject.draft.isBroken(["eras", .index(index), "begins", .key($0)]) }
            if index == 0 {
                report.add(
                    at: ["eras", 0, "changeover"],
                    "`\(era.name.shortened)` is the first era: no change leads to this era, and its window has no effect",
                    fixes: .suggestion("remove `changeover`", .remove(["eras", 0, "changeover"])),
                    "move `changeover` to the era that follows")
            } else if !undated.isEmpty {
                report.add(
                    at: ["eras", .index(index), "changeover"],
                    "the beginning on \(undated.sorted().joined(separator: " and ")) has no date, so the changeover window has no effect there: customers who came during the change are judged by their version alone",
                    fixes: "add `at` to the era's beginning on each platform")
            }
        }
    }
}
