import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds changeover windows that overlap. Such a window is the time around a change from one era to the next in which a
/// customer may belong to either era. If a short era has long windows around both of its ends, its customers may belong
/// to three eras.
extension LintRule {
    static let erasOverlap = LintRule(
        "eras-overlap", .warning, "a changeover window that overlaps the next window",
        rationale:
            "Windows around both ends of a short era cover all of it: customers of that time get the best of three eras.",
        fix: "Make the windows narrower, so that they don't overlap."
    ) { subject, report in
        for platform in subject.platforms {
            // These windows are two seconds longer at each end (`Tolerance`) than in the policy. Compare and show them
            // as the policy states them.
            let windows = platform.timeline.changeovers
            for (first, second) in zip(windows, windows.dropFirst())
            where first.window.upperBound.addingTimeInterval(-Tolerance.seconds)
                > second.window.lowerBound.addingTimeInterval(Tolerance.seconds)
            {
                guard let index = second.eras.last, let change = EraChange(to: index, on: platform, in: subject),
                    let start = platform.timeline.beginnings[change.previous]?.date, let next = change.date,
                    start < next
                else { continue }
                let path: [PolicyMistake.Step] = ["eras", .index(index), "changeover"]
                // Suggest the longest window that doesn't overlap with the previous one.
                let hours = (next.timeIntervalSince(first.window.upperBound) / 3600).rounded(.down)
                let until = Duration.text(subject.eras[index].changeover?.window?.until ?? 0)
                report.add(
                    at: path, as: [platform.platform.rawValue],
                    "on \(platform.platform.rawValue) the changeover window of \(subject.name(index)) opens at \(second.window.lowerBound.addingTimeInterval(Tolerance.seconds).rfc3339), before that of `\(change.before.name.shortened)` has closed (\(first.window.upperBound.addingTimeInterval(-Tolerance.seconds).rfc3339)): customers who got the app in between may belong to \(inWords(first.eras.union(second.eras).map { subject.eras[$0].name }, "or"))",
                    fixes: hours >= 0
                        ? .suggestion(
                            "write `changeover: { from: -\(Int(hours))h, until: \(until) }`",
                            .write(
                                .mapping([
                                    .init("from", .plain("-\(Int(hours))h")), .init("until", .plain(until)),
                                ]), at: path)) : nil, "make both windows narrower")
            }
        }
    }
}
