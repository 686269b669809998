import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

// Part of the rule `paid-era-unhonored`, for a paid era that is honored only with limits. An honor (an entry under
// `honors`) gives an entitlement to the customers of an era, possibly only for some purchase dates or for some time.
extension LintSubject {
    /// Reports buyers of a paid era who keep nothing, because they bought outside the purchase dates of every honor, or
    /// who keep nothing permanently, because every honor ends.
    ///
    /// - Parameters:
    ///   - honoring: the sold entitlements that honor the era; if no entitlement is sold, all entitlements that honor
    ///     it.
    ///   - isAllThatIsSold: whether every sold entitlement honors the era.
    func reportLimits(
        of honoring: [Entitlement], in era: Int, isAllThatIsSold: Bool, to report: inout LintReport
    ) {
        let honors = honoring.flatMap { ($0.honors ?? []).filter { $0.era == eras[era].name } }
        guard let first = honoring.first, !honors.isEmpty else { return }
        let buyers = "customers who paid for the app in \(name(era))"
        let names = inWords(honoring.map(\.name))
        let haveEnded = honors.allSatisfy(hasEnded)
        let current = honors.filter { !hasEnded($0) }
        let (missed, haveBuyers) = unhonoredDates(
            of: era, among: current, soldSince: honors.compactMap(\.boughtSince).min())
        if !haveEnded, !missed.isEmpty {
            let isFree = eras[(era + 1)...].contains { $0.model == .free }
            report.add(
                at: ["eras", .index(era)], as: missed, severity: isFree && haveBuyers ? .error : .warning,
                "\(buyers) \(missed.joined(separator: ", or ")) don't keep \(names)\(haveBuyers ? "" : " if the app was out then"): no honor\(current.count < honors.count ? " that still applies" : "") includes their purchase date",
                fixes: fixAdding(era: era, toHonorsOf: first),
                "extend the dates of an honor of \(name(era)); if you intend these dates, add this finding to `acknowledge`"
            )
        }
        guard isAllThatIsSold, honors.allSatisfy({ $0.length != nil || $0.until != nil }) else { return }
        var limits: [String] = []
        for honor in honors {
            let parts = [honor.length.map { "for \($0.inWords)" }, honor.until.map { "until \($0.rfc3339)" }]
            let limit = parts.compactMap { $0 }.joined(separator: ", ")
            if !limits.contains(limit) { limits.append(limit) }
        }
        report.add(
            at: ["eras", .index(era)], as: ["only for a time"], severity: haveEnded ? .note : .warning,
            "\(buyers) \(haveEnded ? "had" : "have") \(names) only for a time (\(limits.joined(separator: "; "))): they keep nothing permanently",
            fixes: fixAdding(era: era, toHonorsOf: first),
            "honor \(name(era)) without an end; if you intend the end, add this finding to `acknowledge`")
    }

    /// Returns the purchase dates of an era that no honor of the era includes, as text for the message, and whether
    /// customers certainly bought on these dates. Without a release list, the app may not have been out before the
    /// first honored date.
    ///
    /// - Parameter soldSince: a date at which the app was certainly on sale; nil if the policy shows none.
    private func unhonoredDates(
        of era: Int, among honors: [Honor], soldSince: Date?
    ) -> (dates: [String], haveBuyers: Bool) {
        let included = honors.map { honor in
            (since: honor.boughtSince ?? Date.distantPast, before: honor.boughtBefore ?? Date.distantFuture)
        }.sorted { $0.since < $1.since }
        var missed: [String] = []
        var haveBuyers = false
        for platform in platforms where platform.timeline.eras.contains(era) {
            let sale = platform.timeline.sale(of: era)
            let isFirst = era == platform.timeline.firstEra
            // If the era's beginning has no instant, the limits of the honor may be the limits of the era.
            guard isFirst || sale.begin != .distantPast && platform.timeline.beginnings[era]?.date != nil else {
                continue
            }
            // No customer bought the app before its first release.
            let begin = isFirst ? platform.releases.first?.release.releasedAt.sortingDate ?? sale.begin : sale.begin
            var next = begin
            for dates in included + [(since: sale.end, before: Date.distantFuture)] {
                let end = min(dates.since, sale.end)
                // A limit on the day of a change leaves out only hours.
                if end != .distantFuture, end.timeIntervalSince(next) > 86_400 {
                    let words =
                        next == begin && end == sale.end
                        ? "from its beginning to its end"
                        : next == begin
                            ? "before \(end.rfc3339)"
                            : end == sale.end
                                ? "from \(next.rfc3339)" : "from \(next.rfc3339) to before \(end.rfc3339)"
                    if !missed.contains(words) { missed.append(words) }
                    haveBuyers =
                        haveBuyers || next != .distantPast || end == sale.end || soldSince.map { $0 < end } ?? false
                }
                next = max(next, dates.before)
            }
        }
        return (missed, haveBuyers)
    }
}
