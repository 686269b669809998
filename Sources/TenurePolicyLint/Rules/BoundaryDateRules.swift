import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about the dates of boundaries (the beginnings of eras) and whether the release list agrees with them.
extension LintRule {
    /// Finds a boundary (the beginning of an `Era`) that the release list contradicts:
    /// - The boundary's instant (`at`) doesn't fit the date of its release in the list.
    /// - The release has no date in the list. It is then assumed to have come out at the boundary's instant (rule A5 of
    ///   Docs/decision-rules.md). But the dates of the releases before and after it in the list exclude that instant.
    /// - Two boundaries are in the wrong order, and at least one of their dates is only in the list.
    static let boundaryOutOfOrder = LintRule(
        "boundary-out-of-order", .error, "a boundary that contradicts the dates or the order of the release list",
        rationale:
            "If one year is mistyped, a free release counts as sold, or a sold release as free. Only the list shows the mistake.",
        fix: "Correct `at` in the policy. Or, in the release list, correct the date of the release or move its row.",
        needs: .releases
    ) { subject, report in
        for change in subject.writtenChanges {
            if let (name, isEarly, neighbor) = subject.undatedContradiction(of: change), let date = change.date {
                report.add(
                    at: change.path + ["at"], severity: change.matters ? .error : .warning,
                    "`\(change.after.name.shortened)` begins on \(change.platform.name) with \(name) at \(date.rfc3339), but the release list has \(name) \(isEarly ? "after" : "before") \(change.platform.name(of: neighbor)) (\(neighbor.releasedAt.text)): customers may be assigned to the wrong era",
                    fixes: "correct `at`, or move \(name) to where it belongs in the release list")
            } else if let (release, isOtherYear) = subject.contradictedDate(of: change), let date = change.date {
                let name = change.platform.name(of: release)
                report.add(
                    at: change.path + ["at"], severity: isOtherYear && change.matters ? .error : .warning,
                    "`\(change.after.name.shortened)` begins on \(change.platform.name) with \(name) at \(date.rfc3339), but the release list has \(name) on \(release.releasedAt.text)\(isOtherYear ? ", in another year" : ""): customers may be assigned to the wrong era",
                    fixes: subject.fixCorrectingDate(of: change),
                    "correct `at`, or correct the date of \(name) in the release list; if the price changed long before or after that release, name no \(change.platform.noun)"
                )
            } else if let (start, previousStart) = subject.contradictedOrder(of: change) {
                report.add(
                    at: change.path, severity: change.matters ? .error : .warning,
                    "`\(change.after.name.shortened)` follows `\(change.before.name.shortened)`, but begins earlier on \(change.platform.name): `\(change.after.name.shortened)` on \(start.text), `\(change.before.name.shortened)` on \(previousStart.text) (dates from `at` and the release list)",
                    fixes: "correct the beginning of either era, or the release's date in the release list")
            }
        }
    }

    /// Finds a boundary (the beginning of an `Era`) without a date. In the sandbox, the version is always the same, so
    /// tests can't show that a boundary is wrong. If the boundary also has a date, a wrong version contradicts this
    /// date, and a rehearsal (a dry run over real customers) finds that. Receipts signed before June 20, 2013 have no
    /// version at all.
    static let boundaryWithoutDate = LintRule(
        "boundary-without-date", .warning, "a boundary without an instant",
        rationale:
            "If the version alone decides, no date contradicts a wrong boundary. Receipts signed before June 20, 2013 have no version at all.",
        fix: "Write when the era began: `at: 2015-06-10T18:00:00Z`."
    ) { subject, report in
        for change in subject.writtenChanges where change.date == nil && change.matters {
            let key = change.platform.noun
            let version = change.version.map { "\($0)" } ?? ""
            let names = Set(change.lostEntitlements + change.gainedEntitlements)
            let all = subject.entitlementNames(.undetermined, nil, on: change.platform.platform, bought: nil) ?? []
            let undetermined = all.filter { names.contains($0) }
            // Another boundary's date may separate the eras of a customer who has a date.
            let isDated = change.platform.timeline.beginnings.contains { $0?.date != nil }
            let unknown = isDated ? "with neither a known \(key) nor a known purchase date" : "without a known \(key)"
            let consequence =
                undetermined.isEmpty
                ? "" : "a customer \(unknown) is undetermined for \(inWords(undetermined)), and "
            report.add(
                at: change.path,
                "on \(change.platform.name) only \(key) \(version) separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)`: \(consequence)nothing contradicts a wrong \(key)",
                fixes: subject.fixAddingDate(to: change), "add `at` with the instant at which the price changed")
        }
    }

    /// Finds a boundary (the beginning of an `Era`) without a build or version, so that only the purchase date decides.
    /// For buyers of an app bundle (several apps sold together), the original purchase date is the date on which they
    /// bought or completed the bundle, so it may be too late.
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
            let key = change.platform.noun
            report.add(
                at: change.path,
                "on \(change.platform.name) the purchase date alone separates `\(change.before.name.shortened)` from `\(change.after.name.shortened)`: buyers of an app bundle are judged by the bundle's date for \(inWords(change.lostEntitlements + change.gainedEntitlements))",
                fixes: change.date.flatMap { date in
                    // Suggest the release that came out with the change.
                    let release = change.platform.releases.map(\.release).first { $0.releasedAt == .instant(date) }
                    return (release?.originalAppVersion).map {
                        .suggestion(
                            "write `\(key): \"\($0)\"`", .write(.string("\($0)"), at: change.path + [.key(key)]))
                    }
                },
                "add `\(key)` with the \(key) of the first release of `\(change.after.name.shortened)`\(key == "build" && subject.draft.buildNumbers == nil ? ", and `buildNumbers`" : ""); if the era began without a release, add this finding to `acknowledge`"
            )
        }
    }
}

extension LintSubject {
    /// Returns a contradiction if the list has the boundary's release without a date, between dated releases that
    /// exclude the boundary's instant. Otherwise nil.
    ///
    /// - Returns: the name of the boundary's release, whether the instant is too early for its place in the list, and
    ///   the dated release that shows this.
    fileprivate func undatedContradiction(of change: EraChange) -> (name: String, isEarly: Bool, neighbor: Release)? {
        guard let version = change.version, let date = change.date else { return nil }
        let releases = draft.releases.map(\.release).filter { $0.platform == change.platform.platform }
        // The era begins with the first row of the version.
        guard let index = releases.firstIndex(where: { $0.originalAppVersion == version }),
            releases[index].releasedAt == .undated
        else { return nil }
        let before = releases[..<index].last { $0.releasedAt != .undated }
        let after = releases[index...].first { $0.releasedAt != .undated }
        func isEarly(_ date: Date) -> Bool {
            before.map { Release.Moment.instant(date).isCertainlyEarlier(than: $0.releasedAt) } ?? false
        }
        func isLate(_ date: Date) -> Bool {
            after.map { $0.releasedAt.isCertainlyEarlier(than: .instant(date)) } ?? false
        }
        // If several eras begin with the version, one of their instants has to fit.
        guard change.datesOfVersion.allSatisfy({ isEarly($0) || isLate($0) }),
            let neighbor = isEarly(date) ? before : after
        else { return nil }
        return (change.platform.name(of: releases[index]), isEarly(date), neighbor)
    }

    /// Returns the boundary's release if its date in the list is more than three months from the boundary's instant;
    /// otherwise nil. Also returns whether the two dates differ by whole years, which suggests a mistyped year.
    ///
    /// A shorter distance isn't reported, because a price may change some time before or after a release. A release
    /// within a changeover window isn't reported either.
    func contradictedDate(of change: EraChange) -> (release: Release, isOtherYear: Bool)? {
        guard let version = change.version, let date = change.date, change.matters,
            let release = change.platform.releases.map(\.release).first(where: { $0.originalAppVersion == version }),
            change.platform.timeline.changeover(at: release.releasedAt.sortingDate).isEmpty
        else { return nil }
        // If several eras begin with the version, one of their instants has to fit.
        let days = change.datesOfVersion.map { release.releasedAt.sortingDate.timeIntervalSince($0) / 86_400 }
        guard let distance = days.map(abs).min(), distance > 90 else { return nil }
        // Other rules report releases that came out before their era, if the list has their model, or if their buyers
        // lose something.
        if release.releasedAt.isCertainlyEarlier(than: .instant(date)),
            release.model != nil || !change.lostEntitlements.isEmpty
        {
            return nil
        }
        let years = (distance / 365.25).rounded()
        return (release, years > 0 && abs(distance - years * 365.25) <= 2)
    }

    /// Returns when the two eras of a change began if the later era certainly began first; otherwise nil. Also nil if
    /// the policy has both dates, because the reader of the policy file then reports their order as a mistake.
    fileprivate func contradictedOrder(of change: EraChange) -> (start: Release.Moment, previous: Release.Moment)? {
        let platform = change.platform
        guard let start = platform.starts[change.index], let previousStart = platform.starts[change.previous],
            change.date == nil || platform.timeline.beginnings[change.previous]?.date == nil,
            start.isCertainlyEarlier(than: previousStart)
        else { return nil }
        return (start, previousStart)
    }

    /// Returns a fix that writes the date that the list has for the boundary's release as the boundary's `at`. Nil if
    /// the list doesn't have a date with time for it.
    func fixCorrectingDate(of change: EraChange) -> LintFix? {
        let release = change.platform.releases.first { $0.release.originalAppVersion == change.version }?.release
        guard change.date != nil, eras[change.index].begins[change.platform.platform] != nil,
            case .instant(let date)? = release?.releasedAt
        else { return nil }
        return .suggestion(
            "write `at: \(date.rfc3339)`, or correct the release list",
            .write(.string(date.rfc3339), at: change.path + ["at"]))
    }

    /// Returns a fix that adds the date of the boundary's release; nil if the list has no date with time for it. A
    /// boundary with a date also needs a changeover window: the time around the change in which price and build may
    /// disagree.
    fileprivate func fixAddingDate(to change: EraChange) -> LintFix? {
        let releases = change.platform.releases.map(\.release).filter { $0.originalAppVersion == change.version }
        guard case .instant(let date)? = releases.first?.releasedAt else { return nil }
        let at = "`at: \(date.rfc3339)`"
        let writing = PolicyEdit.write(.string(date.rfc3339), at: change.path + ["at"])
        let window: [PolicyMistake.Step] = ["eras", .index(change.index), "changeover"]
        if draft.hasValue(at: window) { return .suggestion("write \(at)", writing) }
        return .suggestion(
            "write \(at), and `changeover: { from: -24h, until: +48h }` for `\(change.after.name.shortened)`", writing,
            .write(.defaultChangeover, at: window))
    }
}

extension EraChange {
    /// The instants of all eras that begin with this version.
    fileprivate var datesOfVersion: [Date] {
        platform.timeline.beginnings.filter { $0?.version == version }.compactMap { $0?.date }
    }
}
