import TenureCore
import TenurePolicyFile

/// Finds a boundary (the first build or version of an `Era`) at or below 1. No customer's build is below it, so no
/// customer is recognized as an owner, that is, as a customer of the earlier era.
extension LintRule {
    static let boundaryAtFirstBuild = LintRule(
        "boundary-at-first-build", .error, "a boundary at or below 1, so no release can be below it",
        rationale:
            "Customers are owners if their first build is below the first build of the new era. No build is below 1. Some apps leave the build at 1 in every release, and test environments invent the versions 1 and 1.0.",
        fix:
            "Write the build or version of the era's first release. If every release had the same one, leave it out and write `at`."
    ) { subject, report in
        guard let one = AppVersion("1") else { return }
        for change in subject.writtenChanges {
            guard let version = change.version, version <= one, change.matters else { continue }
            let releases = change.platform.listedReleases.compactMap(\.originalAppVersion)
            // An app that went from 0.9 to 1.0 has customers below 1.0.
            if releases.contains(where: { $0 < version }) { continue }
            let isDotted = version.description.contains(".") && version == one
            let key = change.platform.key.rawValue
            let path = change.path + [.key(key)]
            let era = "`\(change.after.name.shortened)`"
            let losing =
                change.lostEntitlements.isEmpty
                ? "" : ", and owners without a known purchase date lose \(inWords(change.lostEntitlements))"
            let advice: LintFix = "give the \(key) of the first release of \(era)"
            guard releases.isEmpty, isDotted else {
                let isBuild = change.platform.key == .bundleVersion && change.date != nil
                report.add(
                    at: path, "no \(key) is below \(version): every customer counts as \(era)\(losing)",
                    fixes: isBuild
                        ? .suggestion(
                            "remove `build` and write `buildNumbers: restarted`, so that the date decides",
                            .remove(path), .write(.plain("restarted"), at: ["buildNumbers"]))
                        : .suggestion("remove `\(key)`, so that the date decides", .remove(path)), advice)
                continue
            }
            report.add(
                at: path, severity: .warning,
                "if no release had a \(key) below \(version), every customer counts as \(era)\(losing)",
                fixes: "add a release list that has the releases below \(version), or \(advice.text)")
        }
    }
}
