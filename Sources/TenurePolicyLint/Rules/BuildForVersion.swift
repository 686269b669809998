import TenureCore
import TenurePolicyFile

/// Finds a boundary on macOS (the first version of an `Era`) that is a build. For a universal app, the App Store
/// reports builds on iOS, and marketing versions on the Mac.
extension LintRule {
    static let buildForVersion = LintRule(
        "build-for-version", .error, "a build where macOS reports the marketing version",
        rationale:
            "macOS reports CFBundleShortVersionString. Compared with a build, every version of the Mac app is older, and everybody counts as an owner.",
        fix: "Write the marketing version (CFBundleShortVersionString) of the era's first release."
    ) { subject, report in
        for change in subject.writtenChanges where change.platform.key == .shortVersionString {
            guard let version = change.version else { continue }
            let path = change.path + [.key(VersionKey.shortVersionString.rawValue)]
            let releases = change.platform.listedReleases
            if releases.contains(where: { $0.version == version }) { continue }
            let consequence =
                change.lostEntitlements.isEmpty
                ? "customers who come later still count as `\(change.before.name.shortened)`"
                : "anyone who installs a version below `\(version)` gets \(inWords(change.lostEntitlements)) for nothing"
            if let intendedRelease = releases.first(where: { $0.build == version }) {
                report.add(
                    at: path,
                    "`\(version)` is a build: the release list has it with version \(intendedRelease.numberInWords). On macOS the App Store reports versions, so \(consequence)",
                    fixes: .suggestion(
                        "write `version: \"\(intendedRelease.numberInWords)\"`",
                        .write(.text(intendedRelease.numberInWords), at: path)),
                    "give the version in which that build shipped")
                continue
            }
            let isBuildElsewhere = change.after.begins.contains {
                $0.key.versionKey == .bundleVersion && $0.value.version == version
            }
            let looksLikeBuild =
                !version.description.contains(".")
                && (version.description.count >= 3 && !change.isYear(version) || isBuildElsewhere)
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
}
