import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

extension LintRule {
    /// Finds a change from one era (a period in which the app was paid, or free) to the next without a changeover
    /// window. The window is the time around the change in which price and build may disagree. Without it, customers
    /// who come in between may be assigned to the wrong era.
    ///
    /// At the end of an honored era (customers of that era have an entitlement because of it), a missing window is a
    /// mistake, which the reader of the policy file reports (ADR 3). At the beginning of an honored era, this rule
    /// reports a warning.
    static let noChangeover = LintRule(
        "no-changeover", .error, "a dated change that gives or takes an entitlement, without `changeover`",
        rationale:
            "The price, the storefronts and the app's version rarely change together: someone who paid in the hours between may be an owner by the date and a new customer by the build, or the reverse.",
        fix:
            "Write `changeover: { from: -24h, until: +48h }`, or `changeover: none` if price and version changed at one instant."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() where era.changeover == nil {
            let change = subject.changes.first { $0.index == index && $0.date != nil && !$0.gainedEntitlements.isEmpty }
            guard let change, let date = change.date,
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

    /// Finds a changeover window (the time around the beginning of an era in which price and build may disagree) that
    /// has no effect: the beginning has no date, or the era is the first one.
    static let changeoverWithoutDate = LintRule(
        "changeover-without-date", .warning, "a changeover window without an instant",
        rationale: "A window surrounds the instant of the change; without that instant, the window has no effect.",
        fix: "Add `at` to the era's beginning on each platform. In the first era, remove `changeover`."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() where era.changeover?.window != nil {
            let undated = era.begins.filter { if case .at(_, nil) = $0.value { true } else { false } }
                .map(\.key.rawValue).filter { !subject.draft.isBroken(["eras", .index(index), "begins", .key($0)]) }
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

    /// The longest window that isn't reported, in seconds.
    private static let widestWindow: TimeInterval = 14 * 86_400

    /// Finds a changeover window of more than two weeks. The window is the time around a change from one era to the
    /// next in which price and build may disagree. Everyone who gets the app in the window is treated as an owner, so a
    /// long window gives the app away.
    static let changeoverWide = LintRule(
        "changeover-wide", .warning, "a changeover window of more than two weeks",
        rationale:
            "Everyone who gets the app in the window may be treated as an owner. After two days, the change has reached every storefront and cache. In a month, many new customers would get the app for free.",
        fix:
            "Let the window begin a day before the change, and end two days after the change. In this time, the App Store may show the old price with the new build, or the new price with the old build."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() {
            guard let changeover = era.changeover?.window, changeover.until - changeover.from > widestWindow else {
                continue
            }
            let changes = subject.changes.filter { $0.index == index && $0.matters && $0.date != nil }
            guard let last = changes.max(by: { ($0.date ?? .distantPast) < ($1.date ?? .distantPast) }),
                let date = last.date
            else { continue }
            let until = date.addingTimeInterval(changeover.until).rfc3339
            let names = Set(changes.flatMap(\.lostEntitlements))
            let lost = subject.entitlements.map(\.name).filter { names.contains($0) }
            let consequence =
                lost.isEmpty || changeover.until <= 0 || subject.policy?.inDoubt == .undetermined
                ? "customers who acquired the app in this window may belong to either era"
                : "anyone who installed the app until \(until) gets \(inWords(lost)) for nothing"
            let path: [PolicyMistake.Step] = ["eras", .index(index), "changeover"]
            report.add(
                at: path,
                "the changeover window of `\(era.name.shortened)` is \(Duration.inDays(changeover.until - changeover.from)) wide, more than 14 days: \(consequence)",
                fixes: .suggestion("write `{ from: -24h, until: +48h }`", .write(.defaultChangeover, at: path)),
                "make the window as long as price and build can have disagreed")
        }
    }

    /// Finds changeover windows that overlap. Such a window is the time around a change from one era to the next in
    /// which a customer may belong to either era. If a short era has long windows around both of its ends, its
    /// customers may belong to three eras.
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
                    at: path, as: [platform.name],
                    "on \(platform.name) the changeover window of \(subject.name(index)) opens at \(second.window.lowerBound.addingTimeInterval(Tolerance.seconds).rfc3339), before that of `\(change.before.name.shortened)` has closed (\(first.window.upperBound.addingTimeInterval(-Tolerance.seconds).rfc3339)): customers who got the app in between may belong to \(inWords(first.eras.union(second.eras).map { subject.eras[$0].name }, "or"))",
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

extension Duration {
    /// Writes a duration in days, such as `31 days` or `14 days and 1s`.
    fileprivate static func inDays(_ seconds: TimeInterval) -> String {
        let days = (seconds / 86_400).rounded(.down)
        let rest = seconds - days * 86_400
        return "\(Int(days)) days" + (rest >= 1 ? " and \(text(rest))" : "")
    }
}

extension PolicyEdit.Value {
    /// A day before the change and two days after it.
    static let defaultChangeover = mapping([.init("from", .plain("-24h")), .init("until", .plain("+48h"))])
}
