import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds an honor with dates outside its era, so that it gives customers nothing. An honor is an entry under `honors`,
/// which gives an entitlement to the customers of an `Era`, possibly only if they bought the app between two dates.
extension LintRule {
    static let honorWindowOutsideEra = LintRule(
        "honor-window-outside-era", .error,
        "an honor with dates that no customer of its era can meet, or that ends before its era does",
        rationale: "In one app, a window for recent buyers had the wrong year, so no customer got what was announced.",
        fix: "Correct `boughtSince`, `boughtBefore` or `until`, or honor the era that contains these dates."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors {
            let sales = subject.platforms.filter { $0.timeline.eras.contains(index) }.map {
                $0.sale(ofEra: index)
            }
            guard let begin = sales.map(\.begin).min(), let end = sales.map(\.end).max() else { continue }
            let era = "`\(honor.era)`"
            let name = "`\(entitlement.name.shortened)`"
            if let since = honor.boughtSince, since >= end {
                report.add(
                    at: path + ["boughtSince"],
                    "no customer can get \(name) through this honor: \(era) ended everywhere by \(end.rfc3339), before `boughtSince` (\(since.rfc3339))",
                    fixes: "correct `boughtSince`: it must be within \(era)")
            } else if let before = honor.boughtBefore, before <= begin {
                report.add(
                    at: path + ["boughtBefore"],
                    "no customer can get \(name) through this honor: \(era) begins at \(begin.rfc3339), which isn't before `boughtBefore` (\(before.rfc3339))",
                    fixes: "correct `boughtBefore`: it must be within \(era)")
            } else if let until = honor.until, until <= begin {
                report.add(
                    at: path + ["until"],
                    "no customer ever has \(name) through this honor: it ends (`until`) at \(until.rfc3339), and \(era) begins at \(begin.rfc3339)",
                    fixes: "correct `until`: it must be after the beginning of \(era)")
            } else if let until = honor.until, end != .distantFuture, until < end {
                report.add(
                    at: path + ["until"], severity: .warning,
                    "\(name) ends (`until`) at \(until.rfc3339), but \(era) lasts until \(end.rfc3339): customers who buy in between don't get it",
                    fixes: "correct `until`: it must be after the era's end")
            }
        }
    }
}
