import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules that compare a policy with the previous policy. They find changed settings, and rights that existing
/// customers would lose. For example, an entitlement was renamed, a product was removed, or the boundary between two
/// eras was moved. The service records rights as promises, which keep them despite such edits. An app without the
/// service has no promises.
extension LintRule {
    static let rightLost = LintRule(
        "right-lost", .error, "compared with the previous policy: a right that existing customers would lose",
        rationale:
            "Owners of one app were locked out by the next version of its rules: an entitlement was renamed, and a boundary was moved by one build.",
        fix:
            "Restore what grants the right: the era under `honors`, the boundary, the product, or the entitlement's name.",
        needs: .oldPolicy
    ) { subject, report in
        subject.report(into: &report) { fate, name in
            if case .denied = fate { "would lose \(name)" } else { nil }
        }
    }

    static let rightShortened = LintRule(
        "right-shortened", .error, "compared with the previous policy: a right that would end earlier",
        rationale:
            "One developer announced a year, but a later policy granted half a year, and no reviewer noticed the difference.",
        fix: "Keep the end that was announced, or a later one.", needs: .oldPolicy
    ) { subject, report in
        subject.report(into: &report) { fate, name in
            guard case .shortened(let from, let to) = fate else { return nil }
            let before = from.map { "until \($0.rfc3339)" } ?? "permanently"
            return "would have \(name) until \(to.rfc3339) instead of \(before)"
        }
    }

    static let rightUncertain = LintRule(
        "right-uncertain", .warning, "compared with the previous policy: a right that would become undetermined",
        rationale:
            "In one app, a boundary lost its instant. No right was denied, but half of the owners were undetermined and had to write to support.",
        fix: "Restore the part of the boundary that the policy lost, or write `inDoubt: favorCustomer`.",
        needs: .oldPolicy
    ) { subject, report in
        subject.report(into: &report) { fate, name in
            if case .undetermined = fate { "would become undetermined for \(name)" } else { nil }
        }
    }

    /// Finds changed settings that affect decisions of all entitlements.
    static let settingsEdited = LintRule(
        "settings-edited", .note,
        "compared with the previous policy: another `inDoubt`, `whileUndetermined` or `testEnvironments`",
        rationale: "One changed word in these settings affects all entitlements.",
        fix: "Make sure that you intend the change.", needs: .oldPolicy
    ) { subject, report in
        guard let old = subject.old, let new = subject.policy else { return }
        if old.inDoubt != new.inDoubt {
            report.add(
                at: ["inDoubt"],
                "`inDoubt` was `\(old.inDoubt.rawValue)` and is `\(new.inDoubt.rawValue)`: \(new.inDoubt == .undetermined ? "customers with proofs that leave a doubt, such as buyers within a changeover window, are no longer granted what they have" : "customers with proofs that leave a doubt are now granted what was undetermined")",
                fixes: .suggestion(
                    "keep `\(old.inDoubt.rawValue)` unless you intend the change",
                    .write(.string(old.inDoubt.rawValue), at: ["inDoubt"])))
        }
        if old.whileUndetermined != new.whileUndetermined {
            report.add(
                at: ["whileUndetermined"],
                "`whileUndetermined` was \(old.whileUndetermined.inWords) and is \(new.whileUndetermined.inWords): the setting decides what customers get before anything is known about them",
                fixes: .suggestion(
                    "keep \(old.whileUndetermined.inWords) unless you intend the change",
                    .write(PolicyFile.json(old.whileUndetermined), at: ["whileUndetermined"])))
        }
        if old.testEnvironments != new.testEnvironments {
            report.add(
                at: ["testEnvironments"],
                "`testEnvironments` was `\(old.testEnvironments.rawValue)` and is `\(new.testEnvironments.rawValue)`: this changes what testers and App Review see, but not what customers get",
                fixes: .suggestion(
                    "keep `\(old.testEnvironments.rawValue)` unless you intend the change",
                    .write(.string(old.testEnvironments.rawValue), at: ["testEnvironments"])))
        }
    }

    /// Finds a policy for another app than the previous policy. App transactions and receipts of the old app aren't
    /// accepted for the new app, so customers of the old app would have to pay again.
    static let appChanged = LintRule(
        "app-changed", .error, "compared with the previous policy: another app",
        rationale:
            "One developer made a new app record in App Store Connect. Customers were charged twice, because their purchases belonged to the old record.",
        fix: "Compare with the policy of the same app. To move customers to a new record, grant them what they owned.",
        needs: .oldPolicy
    ) { subject, report in
        guard let old = subject.old?.app, let new = subject.draft.app else { return }
        if old.bundleID != new.bundleID {
            report.add(
                at: ["app", "bundleID"],
                "the bundle ID was `\(old.bundleID.shortened)`: no artifact of a customer of that app counts for `\(new.bundleID.shortened)`",
                fixes: .suggestion(
                    "write `bundleID: \(old.bundleID.shortened)`; for a new app record, compare with its own policy, and grant its customers what they owned",
                    .write(.string(old.bundleID), at: ["app", "bundleID"])),
                "compare with the policy of the same app; for a new app record, grant its customers what they owned")
        }
        if let id = old.appleID, new.appleID != id {
            report.add(
                at: ["app", "appleID"],
                "the Apple ID was `\(id)`\(new.appleID.map { " and is `\($0)`" } ?? " and is missing now"): \(new.appleID == nil ? "production artifacts are matched by bundle ID alone" : "no production artifact of an existing customer counts")",
                fixes: .suggestion(
                    new.appleID == nil
                        ? "write `appleID: \(id)`"
                        : "write `appleID: \(id)`; for a new app record, compare with its own policy, and grant its customers what they owned",
                    .write(.integer(id), at: ["app", "appleID"])),
                "compare with the policy of the same app; for a new app record, grant its customers what they owned")
        }
    }

    /// Finds a trial that is shorter than in the previous policy, counted differently, or removed.
    static let trialShortened = LintRule(
        "trial-shortened", .warning,
        "compared with the previous policy: a trial that is shorter, counted differently or removed",
        rationale:
            "Customers of one app were promised ten sessions. They found the app locked after the fifth session, and complained about it.",
        fix: "Keep the trial as it was, or lengthen it.", needs: .oldPolicy
    ) { subject, report in
        guard let old = subject.old else { return }
        for before in old.entitlements {
            guard let trial = before.trial, let after = subject.draft.entitlement(named: before.name) else { continue }
            let name = "`\(before.name.shortened)`"
            let path: [PolicyMistake.Step] = ["entitlements", .key(before.name)]
            let consequence: String
            switch (trial, after.trial) {
            // Skip entitlements that all customers have: they need no trial.
            case (_, nil) where subject.isPermanentForAll(after): continue
            case (_, nil): consequence = "customers who are trying \(name) for \(trial.inWords) would lose it at once"
            case (.sessions(let was), .sessions(let count)?) where count >= was: continue
            case (.days(let was), .days(let count)?) where count >= was: continue
            case (_, let shorter?):
                consequence =
                    "the trial of \(name) was \(trial.inWords) and is \(shorter.inWords): customers who are in the trial may be locked out"
            }
            report.add(
                at: after.trial == nil ? path : path + ["trial"], consequence,
                fixes: .suggestion(
                    "write `trial: { \(trial.unit): \(trial.count) }`",
                    .write(.object([trial.unit: .integer(Int64(trial.count))]), at: path + ["trial"])))
        }
    }
}

extension LintSubject {
    /// Reports the losses of one kind: of rights by how the app was acquired, then of rights by products.
    ///
    /// - Parameter words: describes a loss of an entitlement for the message; nil if another rule reports this kind of
    ///   loss.
    fileprivate func report(
        into report: inout LintReport, _ words: (RightsComparison.Fate, _ entitlement: String) -> String?
    ) {
        guard let old, let rights else { return }
        for loss in rights.losses {
            guard let fate = words(loss.fate, "`\(loss.entitlement.shortened)`") else { continue }
            report.add(
                at: place(of: loss.entitlement), as: nameIfRemoved(loss.entitlement) + loss.details,
                "\(loss.customers) \(fate)", fixes: restoringFix(loss.entitlement, of: old),
                advice(on: loss.entitlement, under: old))
        }
        for loss in rights.productLosses {
            guard let fate = words(loss.fate, "`\(loss.entitlement.shortened)`") else { continue }
            report.add(
                at: place(of: loss.entitlement), as: nameIfRemoved(loss.entitlement) + ["products", loss.product],
                "customers who have `\(loss.entitlement.shortened)` only because they bought `\(loss.product.shortened)` \(fate)",
                fixes: isNamed(loss.entitlement)
                    ? restoringFix(loss.product, of: loss.entitlement, under: old)
                    : restoringFix(loss.entitlement, of: old),
                advice(on: loss.entitlement, under: old))
        }
    }

    /// Whether the new policy has the entitlement.
    private func isNamed(_ entitlement: String) -> Bool { draft.entitlement(named: entitlement) != nil }

    /// Returns the path in the new policy at which the loss of an entitlement is reported.
    private func place(of entitlement: String) -> [PolicyMistake.Step] {
        isNamed(entitlement) ? ["entitlements", .key(entitlement)] : ["entitlements"]
    }

    /// Returns the entitlement's name if the new policy no longer has it. The finding's place then gets this name,
    /// because the path can't contain it.
    private func nameIfRemoved(_ entitlement: String) -> [String] { isNamed(entitlement) ? [] : [entitlement] }

    /// Returns a fix that restores an entitlement or its honors (the eras for which it is given) as they were in the
    /// old policy. Nil if they are unchanged.
    private func restoringFix(_ name: String, of old: Policy) -> LintFix? {
        guard let before = old.entitlement(named: name) else { return nil }
        let path: [PolicyMistake.Step] = ["entitlements", .key(name)]
        guard let after = draft.entitlement(named: name) else {
            return .suggestion(
                "keep `\(name.shortened)` as it was; a new name can be added beside it",
                .write(PolicyFile.json(before), at: path))
        }
        let missing = (before.honors ?? []).filter { !(after.honors ?? []).contains($0) }
        guard !missing.isEmpty else { return nil }
        // Replace the honors of these eras, and keep the honors of other eras.
        let kept = (after.honors ?? []).filter { honor in !missing.contains { $0.era == honor.era } }
        return .suggestion(
            "keep the honor of \(inWords(Array(Set(missing.map(\.era))).sorted())) as it was",
            .write(.array((missing + kept).map { PolicyFile.json($0) }), at: path + ["honors"]))
    }

    /// Returns a fix that restores a product of an entitlement as it was in the old policy.
    private func restoringFix(_ product: String, of name: String, under old: Policy) -> LintFix? {
        guard let before = old.entitlement(named: name)?.products.first(where: { $0.id == product }),
            let after = draft.entitlement(named: name)
        else { return nil }
        let index = after.products.firstIndex { $0.id == product } ?? after.products.count
        return .suggestion(
            "keep `\(product.shortened)` under `products`, as it was",
            .write(PolicyFile.json(before), at: ["entitlements", .key(name), "products", .index(index)]))
    }

    /// Returns the advice for the case that no tested fix restores the right.
    private func advice(on entitlement: String, under old: Policy) -> LintFix {
        isNamed(entitlement)
            ? "keep everything that gave `\(entitlement.shortened)`: the beginnings of eras, the changeover windows, honors, products and `inDoubt`"
            : "restore the entitlement under its old name; a new name can be added beside it"
    }
}

extension Policy.WhileUndetermined {
    /// The setting for a message, as it is written in a policy.
    fileprivate var inWords: String {
        switch self {
        case .deny: "`deny`"
        case .allow(let seconds): "`{ allow: \(Duration.text(seconds)) }`"
        }
    }
}

extension Trial {
    /// The length of the trial, such as `5 sessions`.
    var inWords: String { "\(count) \(count == 1 ? String(unit.dropLast()) : unit)" }
}
