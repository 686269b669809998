import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds a boundary (the beginning of an `Era`) without a date. In the sandbox, the version is always the same, so
/// tests can't show that a boundary is wrong. If the boundary has a date in addition to the version, a wrong version
/// contradicts the date, and a rehearsal (a dry run over real customers) finds the contradiction. Receipts signed
/// before June 20, 2013 have no version at all.
extension LintRule {
    static let boundaryWithoutDate = LintRule(
        "boundary-without-date", .warning, "a boundary without an instant",
        rationale:
            "If the version alone decides, no date contradicts a wrong boundary. Receipts signed before June 20, 2013 have no version at all.",
        fix: "Write when the era began: `at: 2015-06-10T18:00:00Z`."
    ) { subject, report in
        for change in subject.writtenChanges where change.date == nil && change.matters {
            let key = change.platform.key.rawValue
            let version = change.version.map { "\($0)" } ?? ""
            let names = Set(change.lostEntitlements + change.gainedEntitlements)
            let undetermined = (subject.undeterminedEntitlements(nil, on: change.platform.platform, bought: nil) ?? [])
                .filter { names.contains($0) }
            // Another boundary's date may separate the eras of a customer who has a date.
            let isDated = change.platform.timeline.beginnings.contains { $0?.date != nil }
            let unknown =
                isDated ? "with neither a known \(key) nor a known purchase date" : "without a known \(key)"
            let consequence =
                undetermined.isEmpty
                ? "" : "a customer \(unknown) is undetermined for \(inWords(undetermined)), and "
            report.add(
                at: change.path,
                "on \(change.platform.platform.rawValue) only \(key) \(version) separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)`: \(consequence)nothing contradicts a wrong \(key)",
                fixes: subject.dating(change), "add `at` with the instant at which the price changed")
        }
    }
}

extension LintSubject {
    /// Returns a fix that adds the date of the boundary's release; nil if the list doesn't have it. A boundary with a
    /// date also needs a changeover window: the time around the change in which price and build may disagree.
    fileprivate func dating(_ change: EraChange) -> LintFix? {
        let releases = change.platform.releases.map(\.release).filter { $0.originalAppVersion == change.version }
        guard case .instant(let date)? = releases.first?.releasedAt else { return nil }
        let at = "`at: \(date.rfc3339)`"
        let writing = PolicyEdit.write(.plain(date.rfc3339), at: change.path + ["at"])
        let window: [PolicyMistake.Step] = ["eras", .index(change.index), "changeover"]
        if draft.hasValue(at: window) { return .suggestion("write \(at)", writing) }
        return .suggestion(
            "write \(at), and `changeover: { from: -24h, until: +48h }` for `\(change.after.name.shortened)`", writing,
            .write(.defaultChangeover, at: window))
    }
}
