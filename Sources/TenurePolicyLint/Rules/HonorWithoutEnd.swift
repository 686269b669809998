import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds an honor of limited length in an era without a dated end. An honor is an entry under `honors`, which gives an
/// entitlement to the customers of an `Era`. Its length (`for`) is counted from the end of the era.
extension LintRule {
    static let honorWithoutEnd = LintRule(
        "honor-without-end", .error, "an honor of limited length in an era without a dated end",
        rationale:
            "The length of an honor (`for`, such as a year) counts from the end of the era. Without the date of that end, it's unknown whether the honor is over.",
        fix: "Add `at` to the next era on every platform, or write `until` instead of `for`."
    ) { subject, report in
        for (entitlement, honor, index, path) in subject.currentHonors {
            guard let length = honor.length else { continue }
            let name = "`\(entitlement.name.shortened)`"
            // When the right from other honors that give the entitlement to all customers of the era ends:
            // `distantFuture` if never, nil if there are no such honors.
            let othersEnd = subject.lastingHonors(of: entitlement, in: index)
                .filter { $0.length == nil && $0.boughtSince == nil && $0.boughtBefore == nil }
                .map { $0.until ?? Date.distantFuture }.max()
            let addsNothing = othersEnd.map { $0 >= (honor.until ?? Date.distantFuture) } ?? false
            guard index + 1 < subject.eras.count else {
                let end = honor.until.map { "ends only by `until` (\($0.rfc3339))" } ?? "never ends"
                let outcome =
                    addsNothing ? "this honor adds nothing to \(name)" : "until there is a next one, \(name) \(end)"
                let advice =
                    addsNothing
                    ? "leave out this honor"
                    : honor.until == nil ? "also write `until`" : "leave out `for`"
                report.add(
                    at: path, severity: .warning,
                    "`for` (\(length.inWords)) counts from the end of `\(honor.era)`, which is the last era: \(outcome)",
                    fixes: "\(advice), or acknowledge this finding if it is intended")
                continue
            }
            let undated = subject.platforms.filter {
                $0.timeline.eras.contains(index) && $0.timeline.era(after: index) != nil
                    && $0.timeline.end(of: index) == nil
            }
            guard subject.platforms.isEmpty || !undated.isEmpty else { continue }
            let outcome =
                addsNothing
                ? "this honor adds nothing to \(name)"
                : "\(name) is undetermined\(othersEnd.map { " from \($0.rfc3339) on" } ?? "")"
            let places = undated.map(\.platform.rawValue).joined(separator: " and ")
            report.add(
                at: path,
                "`for` (\(length.inWords)) counts from the beginning of \(subject.name(index + 1)), which has no `at`\(places.isEmpty ? ":" : " on \(places): there") \(outcome) for everybody who got the app in `\(honor.era)`",
                fixes:
                    "add `at` to \(subject.name(index + 1))\(places.isEmpty ? "" : " on \(places)"), or end the honor with `until` instead of `for`"
            )
        }
    }
}

extension CalendarPeriod {
    /// The length for a message, such as `14 days` or `1 year and 6 months`.
    var inWords: String {
        let (years, rest) = months.quotientAndRemainder(dividingBy: 12)
        return [(years, "year"), (rest, "month"), (days, "day")].filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(separator: " and ")
    }
}
