import TenureCore
import TenurePolicyFile

/// Finds a trial that is shorter than in the previous policy, counted differently, or removed.
extension LintRule {
    static let trialShortened = LintRule(
        "trial-shortened", .warning,
        "compared with the previous policy: a trial that is shorter, counted differently or removed",
        rationale:
            "Customers of one app were promised ten sessions. They found the app locked after the fifth session, and complained about it.",
        fix: "Keep the trial as it was, or lengthen it.",
        needs: .oldPolicy
    ) { subject, report in
        guard let old = subject.old else { return }
        for before in old.entitlements {
            guard let trial = before.trial,
                let now = subject.draft.entitlement(named: before.name)
            else { continue }
            let name = "`\(before.name.shortened)`"
            let path: [PolicyMistake.Step] = ["entitlements", .key(before.name)]
            let consequence: String
            switch (trial, now.trial) {
            // Skip entitlements that all customers have: they need no trial.
            case (_, nil) where subject.isPermanentForAll(now): continue
            case (_, nil): consequence = "customers who are trying \(name) for \(trial.inWords) would lose it at once"
            case (.sessions(let was), .sessions(let count)?) where count >= was: continue
            case (.days(let was), .days(let count)?) where count >= was: continue
            case (_, let shorter?):
                consequence =
                    "the trial of \(name) was \(trial.inWords) and is \(shorter.inWords): customers who are in the trial may be locked out"
            }
            report.add(
                at: now.trial == nil ? path : path + ["trial"], consequence,
                fixes: .suggestion(
                    "write `trial: { \(trial.key): \(trial.count) }`",
                    .write(
                        .mapping([.init(trial.key, .plain(String(trial.count)))]), at: path + ["trial"])))
        }
    }
}

extension Trial {
    /// The number of sessions or days.
    var count: Int {
        switch self {
        case .sessions(let count), .days(let count): count
        }
    }

    /// The trial's key in a policy file.
    fileprivate var key: String {
        switch self {
        case .sessions: "sessions"
        case .days: "days"
        }
    }

    /// The length of the trial, such as `5 sessions`.
    var inWords: String {
        let unit = count == 1 ? String(key.dropLast()) : key
        return "\(count) \(unit)"
    }
}
