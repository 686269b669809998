import TenureCore
import TenurePolicyFile

/// Finds a marketing version as the boundary (the first build of an `Era`) on iOS, where Apple's `originalAppVersion`
/// is the build. Tests don't reveal this mistake, because all test environments report an invented version.
extension LintRule {
    static let versionForBuild = LintRule(
        "version-for-build", .error, "a marketing version where iOS, tvOS, watchOS or visionOS reports the build",
        rationale:
            "iOS reports CFBundleVersion. Compared with a marketing version, every build is newer and all owners lose what they paid for, or every build is older and all other customers get it.",
        fix: "Write the build (CFBundleVersion) of the era's first release."
    ) { subject, report in
        for change in subject.writtenChanges where change.platform.key == .bundleVersion {
            guard let version = change.version else { continue }
            let platform = change.platform.platform.rawValue
            let path = change.path + [.key(VersionKey.bundleVersion.rawValue)]
            let releases = change.platform.listedReleases
            if releases.contains(where: { $0.build == version }) { continue }
            if let intendedRelease = releases.first(where: { $0.version == version }) {
                let isReused = releases.contains { $0.build == intendedRelease.build && $0.version != version }
                report.add(
                    at: path,
                    "`\(version)` is a marketing version: the release list has it with build \(intendedRelease.numberInWords). On \(platform) the App Store reports builds, so \(change.misjudged(by: "`\(version)`"))",
                    fixes: .suggestion(
                        "write `build: \"\(intendedRelease.numberInWords)\"`",
                        .write(.text(intendedRelease.numberInWords), at: path)),
                    isReused && change.date != nil
                        ? .suggestion(
                            "remove `build` and write `buildNumbers: restarted`, so that the date decides",
                            .remove(path), .write(.plain("restarted"), at: ["buildNumbers"])) : nil,
                    isReused
                        ? "let the date decide, without a build: earlier releases have build \(intendedRelease.numberInWords) too"
                        : "give the build in which that version shipped")
            } else if releases.isEmpty, let (kind, condition) = change.suspicion(of: version) {
                report.add(
                    at: path, severity: .warning,
                    "`\(version)` looks like \(kind), and on \(platform) the App Store reports the build (CFBundleVersion): \(condition), \(change.misjudged(by: "`\(version)`"))",
                    fixes:
                        "give the CFBundleVersion of the first release of `\(change.after.name.shortened)`; if `\(version)` is that number, add a release list with that release, or add this finding to `acknowledge`"
                )
            }
        }
    }
}

extension AppVersion {
    /// Whether the version is a single digit from 2 to 9, as in Apple's sample code, which compares the major version.
    fileprivate var isMajor: Bool { description.count == 1 && ("2"..."9").contains(description) }
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
        if isYear(version) { return ("a marketing version named after a year", "if it is one") }
        if platform.timeline.versionsRise, version.isMajor { return ("a major version", "if it is one") }
        guard version.description.contains("."), AppVersion("1").map({ $0 < version }) ?? true else { return nil }
        return ("a marketing version", "if the builds of this app are whole numbers")
    }

    /// Describes what happens to customers if builds are compared with this number, which isn't a build.
    fileprivate func misjudged(by number: String) -> String {
        let losing = lostEntitlements.isEmpty ? "" : " and lose \(inWords(lostEntitlements))"
        return
            "customers who paid with a build above \(number) count as `\(after.name.shortened)`\(losing) unless their date proves otherwise"
    }
}
