import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

extension LintRule {
    /// Finds a paid era that no entitlement honors, so that the customers who bought the app in that era are locked
    /// out. An entitlement that honors an era is given to the customers of that era. Also finds each sold entitlement
    /// that doesn't honor the era, and honors with limits that leave out buyers (`reportLimits`).
    static let paidEraUnhonored = LintRule(
        "paid-era-unhonored", .error, "a paid era with buyers who must buy again what they paid for",
        rationale:
            "Owners of one app were locked out on the day of the change, because no entitlement honored their era.",
        fix: "Add the era to the `honors` of each entitlement that its buyers paid for."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() where era.model == .paid {
            // Skip the last era: while the app is still sold, no customer loses anything. But if the app was free
            // before and earlier buyers have an entitlement, today's buyers get nothing for their money.
            if index == subject.eras.count - 1, !subject.isSoldAgainForNothing { continue }
            let isBroken = subject.entitlements.contains { subject.draft.isBroken(["entitlements", .key($0.name)]) }
            guard !isBroken, !subject.draft.isBroken(["eras", .index(index), "model"]) else { continue }
            func honors(_ entitlement: Entitlement) -> [Honor] {
                (entitlement.honors ?? []).filter { $0.era == era.name }
            }
            let honoring = subject.entitlements.filter { !honors($0).isEmpty }
            let sold = subject.entitlements.filter { !$0.products.isEmpty }
            let path: [PolicyMistake.Step] = ["eras", .index(index)]
            let name = "`\(era.name.shortened)`"
            let listedBuilds = subject.platforms.flatMap { platform in
                let releases = platform.releases.filter { platform.era(of: $0.release) == index }
                let numbers = Set(releases.compactMap(\.release.originalAppVersion)).sorted()
                return numbers.isEmpty ? [] : ["\(platform.name(of: numbers)) on \(platform.name)"]
            }
            let builds = listedBuilds.isEmpty ? "" : " (\(listedBuilds.joined(separator: "; ")))"
            if honoring.isEmpty {
                let isFree = subject.eras[(index + 1)...].contains { $0.model == .free }
                let again = sold.isEmpty ? "" : ", and must buy \(inWords(sold.map(\.name))) again"
                report.add(
                    at: path, severity: isFree ? .error : .warning,
                    "customers who paid for the app in \(name)\(builds) keep nothing\(again): no entitlement honors the era",
                    fixes: subject.entitlements.first.map {
                        subject.fixAdding(era: index, toHonorsOf: sold.first ?? $0)
                    },
                    "honor \(name) in \(inWords(subject.entitlements.map(\.name), "or"))")
                continue
            }
            subject.reportLimits(
                of: sold.isEmpty ? honoring : sold.filter { !honors($0).isEmpty }, in: index,
                allSoldHonorEra: sold.allSatisfy { !honors($0).isEmpty }, to: &report)
            // Check each entitlement: a second entitlement that honors the era must not hide that the first one
            // doesn't.
            let unhonored = sold.filter { honors($0).isEmpty }
            guard !unhonored.isEmpty else { continue }
            let hasUnlimitedHonor = sold.contains { honors($0).contains(where: \.isUnlimited) }
            let names = inWords(unhonored.map(\.name))
            let honoringNames = inWords(honoring.map(\.name))
            for entitlement in unhonored {
                // Report a warning even if another entitlement honors the era: only the developer knows which features
                // are new.
                report.add(
                    at: path, as: [entitlement.name], severity: .warning,
                    hasUnlimitedHonor
                        ? "customers who paid for the app in \(name)\(builds) have \(honoringNames), and must buy `\(entitlement.name.shortened)`: this is right only if `\(entitlement.name.shortened)` is new"
                        : "customers who paid for the app in \(name)\(builds) must buy \(names): the era gives them \(honoringNames), but it gives no sold entitlement permanently",
                    fixes: hasUnlimitedHonor ? nil : subject.fixAdding(era: index, toHonorsOf: entitlement),
                    "honor \(name) in `\(entitlement.name.shortened)` too if this entitlement was part of the paid app\(hasUnlimitedHonor ? "; if it is new, add this finding to `acknowledge`" : "")"
                )
            }
        }
    }
}

extension LintSubject {
    /// Whether today's buyers of the app get nothing for their money, although earlier buyers got something. Then the
    /// app is sold again after a free era, and a sold entitlement honors an earlier paid era, but no entitlement honors
    /// the last era.
    fileprivate var isSoldAgainForNothing: Bool {
        guard let last = eras.indices.last, let free = eras.lastIndex(where: { $0.model == .free }) else {
            return false
        }
        let earlier = Set(eras[..<free].filter { $0.model == .paid }.map(\.name))
        let honors = entitlements.flatMap { $0.honors ?? [] }
        return !honors.contains { $0.era == eras[last].name }
            && entitlements.contains { entitlement in
                !entitlement.products.isEmpty && (entitlement.honors ?? []).contains { earlier.contains($0.era) }
            }
    }

    /// Returns a fix that adds an era to the honors of an entitlement.
    func fixAdding(era: Int, toHonorsOf entitlement: Entitlement) -> LintFix {
        let honors = (entitlement.honors ?? []) + [Honor(era: eras[era].name)]
        let path: [PolicyMistake.Step] = ["entitlements", .key(entitlement.name), "honors"]
        return .suggestion(
            "add `\(eras[era].name.shortened)` to the `honors` of `\(entitlement.name.shortened)`",
            .write(.array(honors.map { PolicyFile.json($0) }), at: path))
    }

    /// Reports two limits of honors. An honor (an entry under `honors`) gives an entitlement to the customers of an
    /// era, possibly only for some purchase dates or for some time.
    /// - Some buyers keep nothing, because no honor includes their purchase dates.
    /// - All buyers keep nothing permanently, because every honor ends.
    ///
    /// - Parameters:
    ///   - honoring: the sold entitlements that honor the era; if no entitlement is sold, all entitlements that honor
    ///     it.
    ///   - allSoldHonorEra: whether every sold entitlement honors the era.
    func reportLimits(of honoring: [Entitlement], in era: Int, allSoldHonorEra: Bool, to report: inout LintReport) {
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
        guard allSoldHonorEra, honors.allSatisfy({ $0.length != nil || $0.until != nil }) else { return }
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

    /// Returns the purchase dates of an era that no honor of the era includes, as text for the message. Also returns
    /// whether customers certainly bought on these dates. Without a release list, the app may not have been out before
    /// the first honored date.
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
            guard isFirst || (sale.begin != .distantPast && platform.timeline.beginnings[era]?.date != nil) else {
                continue
            }
            // No customer bought the app before its first release.
            let begin = (isFirst ? platform.releases.first?.release.releasedAt.sortingDate : nil) ?? sale.begin
            var from = begin
            // The element added after the honors reports the dates between the last honor and the era's end.
            for dates in included + [(since: sale.end, before: Date.distantFuture)] {
                let to = min(dates.since, sale.end)
                // A limit on the day of a change leaves out only hours.
                if to != .distantFuture, to.timeIntervalSince(from) > 86_400 {
                    let words =
                        switch (from == begin, to == sale.end) {
                        case (true, true): "from its beginning to its end"
                        case (true, false): "before \(to.rfc3339)"
                        case (false, true): "from \(from.rfc3339)"
                        case (false, false): "from \(from.rfc3339) to before \(to.rfc3339)"
                        }
                    if !missed.contains(words) { missed.append(words) }
                    haveBuyers =
                        haveBuyers || from != .distantPast || to == sale.end || (soldSince.map { $0 < to } ?? false)
                }
                from = max(from, dates.before)
            }
        }
        return (missed, haveBuyers)
    }
}
