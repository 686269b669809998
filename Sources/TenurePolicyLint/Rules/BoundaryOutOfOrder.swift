import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds a boundary with an instant that the order of the policy's list contradicts. If the list has the boundary's
/// release without a date, the release began at the boundary's instant (rule A5 of Docs/decision-rules.md). But the
/// place of the release in the list says something else.
extension LintRule {
    static let boundaryOutOfOrder = LintRule(
        "boundary-out-of-order", .error, "an `at` that contradicts where the list has the undated release",
        rationale:
            "If one year is mistyped, a free release counts as sold. Only the order of the list shows the mistake.",
        fix: "Correct the instant, or move the release in the list."
    ) { subject, report in
        for change in subject.writtenChanges {
            guard let version = change.version, let date = change.date else { continue }
            let releases = subject.draft.releases.map(\.release).filter {
                $0.platform == change.platform.platform
            }
            // If an earlier row of the version begins the era, other rows of the version don't.
            guard let index = releases.firstIndex(where: { $0.originalAppVersion == version }),
                releases[index].releasedAt == .undated
            else { continue }
            let before = releases[..<index].last { $0.releasedAt != .undated }
            let after = releases[index...].first { $0.releasedAt != .undated }
            func isEarly(_ date: Date) -> Bool {
                before.map { Release.Moment.instant(date).isCertainlyEarlier(than: $0.releasedAt) } ?? false
            }
            func isLate(_ date: Date) -> Bool {
                after.map { $0.releasedAt.isCertainlyEarlier(than: .instant(date)) } ?? false
            }
            // If several eras begin with the version, one of their instants has to fit.
            let dates = change.platform.timeline.beginnings.filter { $0?.version == version }.compactMap { $0?.date }
            guard dates.allSatisfy({ isEarly($0) || isLate($0) }), let neighbor = isEarly(date) ? before : after else {
                continue
            }
            let name = change.platform.name(of: releases[index])
            report.add(
                at: change.path + ["at"], severity: change.matters ? .error : .warning,
                "`\(change.after.name.shortened)` begins on \(change.platform.platform.rawValue) with \(name) at \(date.rfc3339), but the list has \(name) \(isEarly(date) ? "after" : "before") \(change.platform.name(of: neighbor)) (\(neighbor.releasedAt.text)): customers may count as those of the wrong era",
                fix: "correct `at`, or move \(name) to where it belongs in the list")
        }
    }
}
