import TenureCore
import TenurePolicyFile

/// Buyers of an app bundle carry the bundle's purchase date, or that of an upgrade, and developers were told not to rely on it.
extension LintRule {
    static let boundaryWithoutVersion = LintRule(
        "boundary-without-version", .note, "a boundary without a build or version",
        story:
            "The purchase date of an app bundle is not that of the app: where the number tells too, an early one saves its owner.",
        fix: "Add the number of the era's first release, or say `buildNumbers: restarted` where it tells nothing."
    ) { subject, report in
        for change in subject.writtenChanges where change.version == nil && change.matters {
            if change.platform.key == .bundleVersion, subject.draft.buildNumbers == .restarted { continue }
            if change.platform.decidesByList { continue }
            let key = change.platform.key.rawValue
            report.add(
                at: change.path,
                "on \(change.platform.platform.rawValue) the purchase date alone separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)`: whoever has \(inWords(change.lost + change.gained)) by an app bundle is judged by the bundle's date",
                fix: change.date.flatMap { date in
                    // The release that came with the change.
                    let release = change.platform.releases.map(\.release).first { $0.releasedAt == .instant(date) }
                    return (release?.originalAppVersion).map {
                        .suggestion(
                            "write `\(key): \"\($0)\"`", .write(.text("\($0)"), at: change.path + [.key(key)]))
                    }
                },
                "add `\(key)` with the \(key) of the first release of `\(change.after.name.shortened)`\(key == "build" ? ", or say that builds tell nothing (`buildNumbers: restarted`)" : "")"
            )
        }
    }
}
