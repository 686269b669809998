import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about numbers (builds or versions) that fall or repeat in the release list.
extension LintRule {
    /// Finds a build or version that belongs to releases of two eras (`Era`). In some apps, all releases are build 1,
    /// and in other apps, builds restart with each version.
    static let buildReused = LintRule(
        "build-reused", .error, "one build, or one version on macOS, in two eras",
        rationale:
            "One app gave each release the build 1. A customer who first got build 1 may be from before or after the change, so the build proves neither era.",
        fix:
            "Let the date decide: write `at` in the era's beginning and add a release list, or set `buildNumbers: restarted` and remove each `build` under `begins`.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            var first: [AppVersion: (release: Release, era: Int)] = [:]
            var reported: Set<AppVersion> = []
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion, let era = platform.era(of: listed.release)
                else { continue }
                guard let earlier = first[number] else {
                    first[number] = (listed.release, era)
                    continue
                }
                guard earlier.era != era, reported.insert(number).inserted else { continue }
                let build = platform.name(of: listed.release)
                let unpaidEntitlements = subject.extraEntitlements(listed.release, on: platform)
                let eras =
                    "\(build) on \(platform.name) was released in \(subject.name(earlier.era)) (\(earlier.release.releasedAt.text)) and again in \(subject.name(era)) (\(listed.release.releasedAt.text))"
                if unpaidEntitlements.isEmpty {
                    let isDated = platform.timeline.beginnings.dropFirst(min(earlier.era, era) + 1)
                        .prefix(abs(era - earlier.era)).contains { $0?.date != nil }
                    report.add(
                        at: listed, severity: .warning, on: platform,
                        "\(eras): \(build) proves neither era, \(isDated ? "so the purchase date alone decides" : "and no instant separates them")\(subject.outcomeWithoutDate(of: listed.release, number, on: platform))",
                        fixes:
                            "give each release its own \(platform.noun) from now on\(platform.decidesByList ? "; keep both rows in the policy's release list" : "")"
                    )
                } else {
                    report.add(
                        at: listed, on: platform,
                        "\(eras), and the policy treats the second release as the first: anyone who first got the app with that release in \(subject.name(era)) gets \(inWords(unpaidEntitlements)) for nothing",
                        fixes: platform.key == .bundleVersion
                            ? "let the date decide: add the release list to the policy (key `releases`), or set `buildNumbers: restarted` and remove each `build` under `begins`"
                            : "add the release list to the policy (key `releases`), so that the date decides")
                }
            }
        }
    }

    /// Finds a release of a later `Era` with a lower number than a release of an earlier era. Unless the policy itself
    /// has a release list, everyone who first installs this release counts as a customer of the earlier era. That is
    /// permanent, because the original build never changes. The rule `build-reused` finds equal numbers.
    static let buildNotAbovePaid = LintRule(
        "build-not-above-paid", .error,
        "a release of a later era with a lower build or version than a release of an earlier era",
        rationale:
            "If a free build is below a paid build, everyone who installs the free build gets the app for nothing. Their original build never changes.",
        fix:
            "Ship no such build. If such a build was shipped, add the release list to the policy (key `releases`), or set `buildNumbers: restarted` and remove each `build` under `begins`.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            // The release with the highest number in each era.
            var highest: [Int: Release] = [:]
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion, let era = platform.era(of: listed.release)
                else { continue }
                let earlier = highest.filter { $0.key < era }.compactMap { earlierEra, release in
                    release.originalAppVersion.map { (era: earlierEra, number: $0, release: release) }
                }
                if let above = earlier.max(by: { $0.number < $1.number }), number < above.number {
                    addFinding(listed, era, below: above.release, of: above.era)
                }
                if highest[era]?.originalAppVersion.map({ $0 < number }) ?? true { highest[era] = listed.release }
            }

            // Reports a release of an era with a number below that of a release of an earlier era.
            func addFinding(_ listed: ListedRelease, _ era: Int, below higher: Release, of earlierEra: Int) {
                let build = platform.name(of: listed.release)
                let sale = platform.sale(of: listed.release)
                let unpaidEntitlements = subject.extraEntitlements(listed.release, on: platform)
                let description =
                    "\(build) of \(subject.name(era)) on \(platform.name) (\(listed.release.releasedAt.text)) is below \(platform.name(of: higher)) of \(subject.name(earlierEra)) (\(higher.releasedAt.text))"
                guard !unpaidEntitlements.isEmpty else {
                    report.add(
                        at: listed, severity: .note, on: platform,
                        "\(description): only its row in the release list, or the purchase date, shows its era",
                        fixes:
                            "keep every release in the policy's release list, and give each new release a higher \(platform.noun)"
                    )
                    return
                }
                let when =
                    sale.from > subject.now
                    ? "installs \(build) from \(sale.from.rfc3339) on gets"
                    : sale.until == .distantFuture || sale.until > subject.now
                        ? "installs \(build) today gets" : "installed \(build) until \(sale.until.rfc3339) gets"
                report.add(
                    at: listed, on: platform,
                    "anyone who \(when) \(inWords(unpaidEntitlements)) for nothing: \(description)",
                    fixes:
                        "ship a \(platform.noun) above \(higher.numberInWords)\(platform.decidesByList ? "" : ", and add the release list to the policy (key `releases`), so that the release date of \(build) is used")"
                )
            }
        }
    }

    /// Finds a number in the release list that fell or was used twice, although numbers should rise: on macOS, or under
    /// `buildNumbers: increasing`. On iOS, builds often restart with each version.
    static let increasingContradicted = LintRule(
        "increasing-contradicted", .error,
        "`buildNumbers: increasing`, or a macOS app, where the release list has a build or version that fell or was used twice",
        rationale:
            "After five years, a developer may not remember whether build numbers restarted. The release list shows whether they did.",
        fix: "Write `buildNumbers: restarted`, and keep the release list in the policy.", needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            guard platform.key == .shortVersionString || subject.draft.buildNumbers == .increasing else { continue }
            var highest: Release?
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion else { continue }
                if let last = highest, let lastNumber = last.originalAppVersion,
                    number < lastNumber || last.isOtherRelease(than: listed.release),
                    last.releasedAt.sortingDay < listed.release.releasedAt.sortingDay
                {
                    let key = platform.noun
                    let claim =
                        platform.key == .bundleVersion
                        ? "`buildNumbers: increasing` is wrong" : "versions didn't always rise"
                    let isSame = number == lastNumber
                    let lastDate = last.releasedAt.text
                    let date = listed.release.releasedAt.text
                    report.add(
                        at: listed, severity: platform.decidesByList ? .warning : .error, on: platform,
                        "\(claim): on \(platform.name) "
                            + (isSame
                                ? "two releases have \(key) \(number) (\(lastDate) and \(date))"
                                : "\(key) \(number) (\(date)) came after \(key) \(lastNumber) (\(lastDate))")
                            + (platform.decidesByList
                                ? "; the policy's release list tells the releases apart, but if a date contradicts the \(key), the \(key) is used"
                                : isSame
                                    ? "; the \(key) doesn't tell them apart"
                                    : "; \(key)s between them prove the wrong era"),
                        fixes: platform.key == .bundleVersion
                            ? .suggestion(
                                "write `buildNumbers: restarted`",
                                .write(.string("restarted"), at: ["buildNumbers"])) : nil,
                        subject.useOfList.map { use in
                            let releases = "`releases: \(use.path)`"
                            return platform.key == .shortVersionString
                                ? .suggestion("write \(releases)", use.edit)
                                : .suggestion(
                                    "write `buildNumbers: restarted` and \(releases)",
                                    .write(.string("restarted"), at: ["buildNumbers"]), use.edit)
                        },
                        platform.key == .bundleVersion
                            ? "let the date decide, by `buildNumbers: restarted` and a release list in the policy for each platform that has a boundary by build"
                            : "let the dates decide, by a complete release list in the policy")
                    break
                }
                if highest?.originalAppVersion.map({ $0 <= number }) ?? true { highest = listed.release }
            }
        }
    }
}

extension LintSubject {
    /// Describes what customers of a release without a known purchase date get, for the end of a message. Empty if they
    /// get the same as customers who came while the release was on sale, and nothing is undetermined.
    fileprivate func outcomeWithoutDate(
        of release: Release, _ number: AppVersion, on platform: LintPlatform
    ) -> String {
        let undetermined = entitlementNames(.undetermined, number, on: platform.platform, bought: nil) ?? []
        let undeterminedByDate = Set(
            entitlementNames(.undetermined, number, on: platform.platform, bought: release.lateInstant) ?? [])
        let resolvedByDate = undetermined.filter { !undeterminedByDate.contains($0) }
        if !resolvedByDate.isEmpty {
            return "; a customer without a known purchase date is undetermined for \(inWords(resolvedByDate))"
        }
        if !undetermined.isEmpty {
            return "; customers of \(platform.name(of: release)) are undetermined for \(inWords(undetermined))"
        }
        let byDate = Set(entitlementNames(.granted, number, on: platform.platform, bought: release.lateInstant) ?? [])
        let undated = entitlementNames(.granted, number, on: platform.platform, bought: nil) ?? []
        let isInDoubt = undated.contains { !byDate.contains($0) }
        return isInDoubt ? "; for a customer without a known purchase date, `inDoubt` decides" : ""
    }
}

extension Release {
    /// Whether the two are different releases with the same build. If a release is listed twice, such as for a new
    /// price or storefront, both rows also have the same marketing version.
    fileprivate func isOtherRelease(than other: Release) -> Bool {
        guard platform.versionKey == .bundleVersion, build == other.build, let version, let otherVersion = other.version
        else { return false }
        return version != otherVersion
    }
}
