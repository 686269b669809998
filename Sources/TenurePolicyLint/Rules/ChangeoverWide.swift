import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds a changeover window of more than two weeks. The window is the time around a change from one era to the next in
/// which price and build may disagree. Everyone who gets the app in the window is treated as an owner, so a long window
/// gives the app away.
extension LintRule {
    /// The longest window that isn't reported, in seconds.
    private static let widestWindow: TimeInterval = 14 * 86_400

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
