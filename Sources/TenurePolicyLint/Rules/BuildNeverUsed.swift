import TenureCore
import TenurePolicyFile

/// Finds a boundary by build (the first build of an `Era`) in a policy with `buildNumbers: restarted`, in which builds
/// are never compared.
extension LintRule {
    static let buildNeverUsed = LintRule(
        "build-never-used", .error, "a boundary by build under `buildNumbers: restarted` without a release list",
        rationale:
            "Builds that began again can't be compared with a boundary: its `build` looks like a rule but has no effect.",
        fix: "Add a release list, which gives each build its dates, or remove the build."
    ) { subject, report in
        guard subject.draft.buildNumbers == .restarted else { return }
        for change in subject.writtenChanges where change.platform.key == .bundleVersion {
            guard let version = change.version, !change.platform.decidesByList else { continue }
            let consequence =
                change.date == nil
                ? "nothing separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)` on \(change.platform.platform.rawValue), and every customer there is undetermined"
                : "the date alone decides"
            report.add(
                at: change.path + ["build"], severity: change.date == nil ? .error : .warning,
                "build \(version) is never compared, because build numbers began again and no release list says when each build was on sale: \(consequence)",
                fixes: subject.useOfList.map {
                    .suggestion("write `releases: \($0.path)`", $0.edit)
                },
                change.date == nil
                    ? nil
                    : .suggestion("remove `build`, or add a release list", .remove(change.path + ["build"])),
                "add a release list (`releases`)")
        }
    }
}
