import TenureCore
import TenurePolicyFile

/// Finds a boundary (the beginning of an `Era`) without a build or version, so that only the purchase date decides. For
/// buyers of an app bundle (several apps sold together), the original purchase date is the date on which they bought or
/// completed the bundle, so it may be too late.
extension LintRule {
    static let boundaryWithoutVersion = LintRule(
        "boundary-without-version", .note, "a boundary without a build or version",
        rationale:
            "For buyers of an app bundle (several apps sold together), the purchase date is that of the bundle, not of the app. If the boundary also has a number, an early build or version proves that they are owners.",
        fix:
            "Add the number of the era's first release; a build also needs `buildNumbers`. If the era began without a release, acknowledge the finding."
    ) { subject, report in
        for change in subject.writtenChanges where change.version == nil && change.matters {
            if change.platform.key == .bundleVersion, subject.draft.buildNumbers == .restarted { continue }
            if change.platform.decidesByList { continue }
            let key = change.platform.key.rawValue
            report.add(
                at: change.path,
                "on \(change.platform.platform.rawValue) the purchase date alone separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)`: buyers of an app bundle are judged by the bundle's date for \(inWords(change.lostEntitlements + change.gainedEntitlements))",
                fixes: change.date.flatMap { date in
                    // Suggest the release that came out with the change.
                    let release = change.platform.releases.map(\.release).first { $0.releasedAt == .instant(date) }
                    return (release?.originalAppVersion).map {
                        .suggestion(
                            "write `\(key): \"\($0)\"`", .write(.text("\($0)"), at: change.path + [.key(key)]))
                    }
                },
                "add `\(key)` with the \(key) of the first release of `\(change.after.name.shortened)`\(key == "build" && subject.draft.buildNumbers == nil ? ", and `buildNumbers`" : ""); if the era began without a release, add this finding to `acknowledge`"
            )
        }
    }
}
