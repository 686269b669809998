import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about the numbers (builds or versions) of boundaries, that is, of the beginnings of eras.
extension LintRule {
    /// Finds a marketing version as the boundary (the first build of an `Era`) on iOS, where Apple's
    /// `originalAppVersion` is the build. Tests don't reveal this mistake, because all test environments report an
    /// invented version.
    static let versionForBuild = LintRule(
        "version-for-build", .error, "a marketing version where iOS, tvOS, watchOS or visionOS reports the build",
        rationale:
            "iOS reports CFBundleVersion. Compared with a marketing version, every build is newer and all owners lose what they paid for, or every build is older and all other customers get it.",
        fix: "Write the build (CFBundleVersion) of the era's first release."
    ) { subject, report in
        for change in subject.writtenChanges where change.platform.key == .bundleVersion {
            guard let version = change.version, !change.isVersionInOwnList, !change.platform.neverComparesBuilds
            else { continue }
            let path = change.path + [.key(VersionKey.bundleVersion.rawValue)]
            let releases = change.platform.listedReleases
            if releases.contains(where: { $0.build == version }) { continue }
            if let intendedRelease = releases.first(where: { $0.version == version }) {
                let isReused = releases.contains { $0.build == intendedRelease.build && $0.version != version }
                let build = intendedRelease.numberInWords
                let decidesByList = change.platform.decidesByList
                let withoutBuild: LintFix =
                    decidesByList
                    ? .suggestion("remove `build`, so that the release list and the date decide", .remove(path))
                    : .suggestion(
                        "remove `build` and write `buildNumbers: restarted`, so that the date decides",
                        .remove(path), .write(.string("restarted"), at: ["buildNumbers"]))
                report.add(
                    at: path, severity: decidesByList && change.date != nil ? .warning : .error,
                    "`\(version)` is a marketing version: the release list has it with build \(build). On \(change.platform.name) the App Store reports builds, so \(change.misjudged(by: "`\(version)`"))",
                    fixes: isReused && decidesByList
                        ? nil : .suggestion("write `build: \"\(build)\"`", .write(.string(build), at: path)),
                    isReused && change.date != nil ? withoutBuild : nil,
                    isReused
                        ? "let the date decide, without a build: earlier releases have build \(build) too"
                        : "give the build in which that version shipped")
            } else if releases.isEmpty, let (kind, condition) = change.suspicion(of: version) {
                report.add(
                    at: path, severity: .warning,
                    "`\(version)` looks like \(kind), and on \(change.platform.name) the App Store reports the build (CFBundleVersion): \(condition), \(change.misjudged(by: "`\(version)`"))",
                    fixes:
                        "give the CFBundleVersion of the first release of `\(change.after.name.shortened)`; if `\(version)` is that number, add a release list with that release, or add this finding to `acknowledge`"
                )
            }
        }
    }

    /// Finds a boundary on macOS (the first version of an `Era`) that is a build. For a universal app, the App Store
    /// reports builds on iOS, and marketing versions on the Mac.
    static let buildForVersion = LintRule(
        "build-for-version", .error, "a build where macOS reports the marketing version",
        rationale:
            "macOS reports CFBundleShortVersionString. Compared with a build, every version of the Mac app is older, and everybody counts as an owner.",
        fix: "Write the marketing version (CFBundleShortVersionString) of the era's first release."
    ) { subject, report in
        for change in subject.writtenChanges where change.platform.key == .shortVersionString {
            guard let version = change.version, !change.isVersionInOwnList else { continue }
            let path = change.path + [.key(VersionKey.shortVersionString.rawValue)]
            let releases = change.platform.listedReleases
            if releases.contains(where: { $0.version == version }) { continue }
            let consequence =
                change.platform.decidesByList
                ? change.effectBesideList(of: "`\(version)`")
                : change.lostEntitlements.isEmpty
                    ? "customers who come later still count as `\(change.before.name.shortened)`"
                    : "anyone who installs a version below `\(version)` gets \(inWords(change.lostEntitlements)) for nothing"
            if let intendedVersion = releases.first(where: { $0.build == version })?.numberInWords {
                report.add(
                    at: path, severity: change.platform.decidesByList && change.date != nil ? .warning : .error,
                    "`\(version)` is a build: the release list has it with version \(intendedVersion). On macOS the App Store reports versions, so \(consequence)",
                    fixes: .suggestion(
                        "write `version: \"\(intendedVersion)\"`", .write(.string(intendedVersion), at: path)),
                    "give the version in which that build shipped")
                continue
            }
            let isBuildElsewhere = change.after.begins.contains {
                $0.key.versionKey == .bundleVersion && $0.value.version == version
            }
            let looksLikeBuild =
                !version.description.contains(".")
                && ((version.description.count >= 3 && !change.isYear(version)) || isBuildElsewhere)
            if releases.isEmpty, looksLikeBuild {
                report.add(
                    at: path, severity: .warning,
                    "`\(version)` looks like a build\(isBuildElsewhere ? ", and another platform begins with the same one" : ""). On macOS the App Store reports the marketing version, such as 2.0: if it is a build, \(consequence)",
                    fixes:
                        "give the CFBundleShortVersionString of the first release of `\(change.after.name.shortened)`; if `\(version)` is that number, add a release list with that release"
                )
            }
        }
    }

    /// Finds a boundary by build (the first build of an `Era`) in a policy with `buildNumbers: restarted`, in which
    /// builds are never compared.
    static let buildNeverUsed = LintRule(
        "build-never-used", .error, "a boundary by build under `buildNumbers: restarted` without a release list",
        rationale:
            "Builds that began again can't be compared with a boundary: its `build` looks like a rule but has no effect.",
        fix: "Add a release list, which gives each build its dates, or remove the build."
    ) { subject, report in
        for change in subject.writtenChanges where change.platform.neverComparesBuilds {
            guard let version = change.version else { continue }
            let consequence =
                change.date == nil
                ? "nothing separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)` on \(change.platform.name), and every customer there is undetermined"
                : "the date alone decides"
            report.add(
                at: change.path + ["build"], severity: change.date == nil ? .error : .warning,
                "build \(version) is never compared, because build numbers began again and no release list says when each build was on sale: \(consequence)",
                fixes: subject.useOfList.map { .suggestion("write `releases: \($0.path)`", $0.edit) },
                change.date == nil
                    ? nil
                    : .suggestion("remove `build`, or add a release list", .remove(change.path + ["build"])),
                "add a release list (`releases`)")
        }
    }

    /// Finds a boundary (the first build or version of an `Era`) at or below 1. No customer's build is below it, so no
    /// customer is recognized as an owner, that is, as a customer of the earlier era.
    ///
    /// If the policy itself has a release list, numbers aren't compared: the dates in the list and the boundary's
    /// instant decide. Then a low number matters only if the boundary has no instant, and its release is the first one
    /// in the list.
    static let boundaryAtFirstBuild = LintRule(
        "boundary-at-first-build", .error, "a boundary at or below 1, so no release can be below it",
        rationale:
            "Customers are owners if their first build is below the first build of the new era. No build is below 1. Some apps leave the build at 1 in every release, and test environments invent the versions 1 and 1.0.",
        fix:
            "Write the build or version of the era's first release. If every release had the same one, leave it out and write `at`."
    ) { subject, report in
        guard let one = AppVersion("1") else { return }
        for change in subject.writtenChanges {
            guard let version = change.version, version <= one, change.matters,
                // Another rule reports builds that are never compared.
                !change.platform.neverComparesBuilds
            else { continue }
            let key = change.platform.noun
            let path = change.path + [.key(key)]
            let era = "`\(change.after.name.shortened)`"
            let advice: LintFix = "give the \(key) of the first release of \(era)"
            let lost = change.lostEntitlements.isEmpty ? nil : inWords(change.lostEntitlements)
            if let erasOfRelease = change.platform.timeline.erasOfRelease {
                guard change.date == nil, change.isVersionInOwnList,
                    erasOfRelease.values.allSatisfy({ eras in eras.first.map { $0 >= change.index } ?? false })
                else { continue }
                let losing = lost.map { ", and owners with a listed \(key) lose \($0)" } ?? ""
                report.add(
                    at: path,
                    "the policy's release list has no release before \(key) \(version), with which \(era) begins: no listed release counts as `\(change.before.name.shortened)`\(losing)",
                    fixes: advice)
                continue
            }
            let releases = change.platform.listedReleases.compactMap(\.originalAppVersion)
            // An app that went from 0.9 to 1.0 has customers below 1.0.
            if releases.contains(where: { $0 < version }) { continue }
            let isDotted = version.description.contains(".") && version == one
            let owners = change.date == nil ? "owners" : "owners without a known purchase date"
            let losing = lost.map { ", and \(owners) lose \($0)" } ?? ""
            if releases.isEmpty, isDotted {
                report.add(
                    at: path, severity: .warning,
                    "if no release had a \(key) below \(version), every customer counts as \(era)\(losing)",
                    fixes: "add a release list that has the releases below \(version), or \(advice.text)")
                continue
            }
            let isBuildWithDate = change.platform.key == .bundleVersion && change.date != nil
            report.add(
                at: path, "no \(key) is below \(version): every customer counts as \(era)\(losing)",
                fixes: isBuildWithDate
                    ? .suggestion(
                        "remove `build` and write `buildNumbers: restarted`, so that the date decides",
                        .remove(path), .write(.string("restarted"), at: ["buildNumbers"]))
                    : .suggestion("remove `\(key)`, so that the date decides", .remove(path)), advice)
        }
    }

    /// Finds a boundary (the first build or version of an `Era`) that no release has, such as a build that was planned
    /// but rejected in review. If numbers always increase, the boundary still separates the releases before and after
    /// it. But if the policy has a release list, and the boundary has no `at`, nothing separates the two eras.
    static let boundaryOnNoRelease = LintRule(
        "boundary-on-no-release", .error, "a boundary with a build or version that no release has",
        rationale:
            "App Review may reject the build that was meant to be the first free build. The build that ships then has another number.",
        fix: "Write the number of the era's first release, or add that release to the release list.", needs: .releases
    ) { subject, report in
        // Skip platforms that inherit the boundary: the list of such a platform needn't have that release.
        for change in subject.writtenChanges {
            let releases = change.platform.listedReleases
            guard let version = change.version, !releases.isEmpty,
                !releases.contains(where: { $0.originalAppVersion == version }),
                // Skip boundaries that other rules report.
                !releases.contains(where: { $0.version == version || $0.build == version })
            else { continue }
            // Skip numbers that are never compared, because another rule reports these numbers.
            guard change.platform.decidesByList || change.platform.timeline.versionsRise else { continue }
            let numbers = releases.compactMap(\.originalAppVersion)
            let below = numbers.filter { $0 < version }.max().map { "\($0)" } ?? "none"
            let above = numbers.filter { $0 > version }.min().map { "\($0)" } ?? "none"
            let key = change.platform.noun
            let description =
                "`\(change.after.name.shortened)` begins on \(change.platform.name) with \(key) \(version), which isn't in the release list (below it \(below), above it \(above))"
            let lacksDate = change.platform.decidesByList && change.date == nil
            // The number may belong to a planned release, which isn't in a list of past releases.
            let isPlanned = above == "none" && (change.date.map { $0 > subject.now } ?? false)
            let consequence: String
            if lacksDate {
                consequence = ": without an instant nothing separates this era from `\(change.before.name.shortened)`"
            } else if change.platform.decidesByList {
                consequence =
                    change.isVersionInOwnList
                    ? ""
                    : ": while the policy's release list lacks it, this \(key) has no effect, because the list and `at` decide"
            } else if above == "none" {
                consequence =
                    ": if the era's first release has a lower \(key), anyone who installs that release counts as `\(change.before.name.shortened)`\(change.lostEntitlements.isEmpty ? "" : " and gets \(inWords(change.lostEntitlements)) for nothing")"
            } else {
                consequence = ""
            }
            report.add(
                at: change.path + [.key(key)], severity: lacksDate ? .error : isPlanned ? .note : .warning,
                description + consequence,
                fixes: change.firstRelease(insteadOf: version).map { first in
                    .suggestion(
                        "write `\(key): \"\(first)\"`, or add the missing release to the release list",
                        .write(.string("\(first)"), at: change.path + [.key(key)]))
                },
                "add the release to the release list, with its real \(key)")
        }
    }
}

extension AppVersion {
    /// Whether the version is a single digit from 2 to 9, as in Apple's sample code, which compares the major version.
    fileprivate var isMajor: Bool { description.count == 1 && ("2"..."9").contains(description) }

    /// Whether the version begins with a calendar date, such as `20150610.1`, as some apps number their builds.
    fileprivate var beginsWithDate: Bool {
        let digits = description.prefix { $0 != "." }
        let (year, month, day) = (digits.prefix(4), digits.dropFirst(4).prefix(2), digits.dropFirst(6).prefix(2))
        return CivilDay("\(year)-\(month)-\(day)").map { (2008...2099).contains($0.year) } ?? false
    }
}

extension EraChange {
    /// Whether the number is the year of the change or a year near it, as some apps number their versions.
    func isYear(_ version: AppVersion) -> Bool {
        guard let year = Int(version.description.prefix { $0 != "." }) else { return false }
        guard let date else { return (2008...2100).contains(year) }
        return abs(CivilDay(of: date).year - year) <= 1
    }

    /// Returns what the boundary seems to be instead of a build, and the condition under which it would be wrong. Nil
    /// if it may be a build.
    fileprivate func suspicion(of version: AppVersion) -> (kind: String, condition: String)? {
        if version.beginsWithDate { return nil }
        if isYear(version) { return ("a marketing version named after a year", "if it is a version") }
        if platform.timeline.versionsRise, version.isMajor { return ("a major version", "if it is a version") }
        guard version.description.contains("."), AppVersion("1").map({ $0 < version }) ?? true else { return nil }
        return ("a marketing version", "if the builds of this app are whole numbers")
    }

    /// Whether the policy's own release list, which decides, has the boundary's version.
    fileprivate var isVersionInOwnList: Bool { version.flatMap { platform.timeline.erasOfRelease?[$0] } != nil }

    /// Describes what happens to customers because of this number, which isn't a build.
    fileprivate func misjudged(by number: String) -> String {
        if platform.decidesByList { return effectBesideList(of: number) }
        let losing = lostEntitlements.isEmpty ? "" : " and lose \(inWords(lostEntitlements))"
        // Without an instant, no date separates the two eras (rule B1 of Docs/decision-rules.md).
        let exception = date == nil ? "" : " unless their date proves otherwise"
        return "customers who paid with a build above \(number) count as `\(after.name.shortened)`\(losing)\(exception)"
    }

    /// Describes the effect of a boundary's number if the policy itself has a release list, and the list lacks the
    /// number.
    fileprivate func effectBesideList(of number: String) -> String {
        date == nil
            ? "nothing separates `\(before.name.shortened)` from `\(after.name.shortened)`"
            : "\(number) has no effect, because the policy's release list and `at` decide"
    }

    /// Returns the number with which the era may begin, instead of a number that no release has. It is the number of
    /// the first listed release at or after the boundary's instant. Without an instant, it is the next higher number.
    /// Nil if the list has no such release.
    fileprivate func firstRelease(insteadOf version: AppVersion) -> AppVersion? {
        // A free era can't begin with a release that was sold.
        func hasModel(_ release: Release) -> Bool { release.model == nil || release.model == after.model }
        func next(in releases: [Release]) -> AppVersion? {
            releases.compactMap(\.originalAppVersion).filter { $0 > version }.min()
        }
        let begun = platform.listedReleases.filter(hasModel)
        guard let date else { return next(in: begun) ?? next(in: platform.listedReleases) }
        let dated = platform.releases.map(\.release)
        // A number that an earlier release also has separates nothing.
        let earlier = Set(dated.filter { !$0.releasedAt.isAtOrAfter(date) }.compactMap(\.originalAppVersion))
        let later = dated.filter { hasModel($0) && $0.releasedAt.isAtOrAfter(date) }
        return later.compactMap(\.originalAppVersion).first { !earlier.contains($0) }
            ?? next(in: begun.filter { $0.releasedAt == .undated })
    }
}
