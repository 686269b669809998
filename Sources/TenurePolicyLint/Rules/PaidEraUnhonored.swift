import TenureCore
import TenurePolicyFile

/// Finds a paid era that no entitlement honors, so that the customers who bought the app in that era are locked out. An
/// entitlement that honors an era is given to the customers of that era. Also finds each sold entitlement that doesn't
/// honor the era, and honors with limits that leave out buyers (`PaidEraLimits.swift`).
extension LintRule {
    static let paidEraUnhonored = LintRule(
        "paid-era-unhonored", .error, "a paid era with buyers who must buy again what they paid for",
        rationale:
            "Owners of one app were locked out on the day of the change, because no entitlement honored their era.",
        fix: "Add the era to the `honors` of each entitlement that its buyers paid for."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() where era.model == .paid {
            // Skip the last era: while the app is still sold, no customer loses anything. But if the app was free before
            // and earlier buyers have an entitlement, today's buyers get nothing for their money.
            if index == subject.eras.count - 1, !subject.isSoldAgainForNothing { continue }
            let isReadable = !subject.entitlements.contains {
                subject.draft.isBroken(["entitlements", .key($0.name)])
            }
            guard isReadable, !subject.draft.isBroken(["eras", .index(index), "model"]) else { continue }
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
                let noun = "\(platform.key.rawValue)\(numbers.count == 1 ? "" : "s")"
                return numbers.isEmpty ? [] : ["\(noun) \(inWords(numbers)) on \(platform.platform.rawValue)"]
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
                isAllThatIsSold: sold.allSatisfy { !honors($0).isEmpty }, to: &report)
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
    /// Whether today's buyers of the app get nothing for their money. It is so if the app is sold again after a free
    /// era, and a sold entitlement honors an earlier paid era, but no entitlement honors the last era.
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
            .write(PolicyEdit.Value(honors), at: path))
    }
}
