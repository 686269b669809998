import TenureCore
import TenurePolicyFile

/// Finds a platform for which an era (a period in which the app was paid, or free) has no beginning, although another
/// era of the policy or the release list has the platform. Then the policy doesn't say when the change to that era
/// happened on the platform.
extension LintRule {
    static let platformForgotten = LintRule(
        "platform-forgotten", .error, "a platform that an era doesn't mention",
        rationale:
            "The developer of one universal app made it free on the phone, but forgot the Mac. On the Mac, everyone continued to count as an owner.",
        fix:
            "Add the platform under `begins` of the era: with the first build or version of the era there, its instant, or both. Write `new` if the app came to the platform in that era."
    ) { subject, report in
        for platform in subject.platforms {
            let beginnings = platform.timeline.beginnings
            let isNamed = subject.eras.contains { $0.begins[platform.platform] != nil }
            for index in subject.eras.indices.dropFirst()
            where index > platform.timeline.firstEra && beginnings.indices.contains(index) && beginnings[index] == nil {
                let before = subject.entitlements.filter { !subject.keeps($0, of: index - 1, countedIn: index) }
                let after = subject.entitlements.filter { !subject.keeps($0, of: index, countedIn: index - 1) }
                let names = Set((before + after).map(\.name))
                let different = subject.entitlements.map(\.name).filter { names.contains($0) }
                guard !different.isEmpty else { continue }
                let name = platform.platform.rawValue
                let first = platform.releases.first?.release
                let isNew = first.flatMap { platform.startsAfter(index, first: $0, in: subject) } ?? false
                let proof =
                    first.map { "the release list has releases for \(name) since \($0.releasedAt.text)" }
                    ?? "another era mentions \(name)"
                // A middle era, such as a promotion, usually isn't on all platforms. So report only a note for it, if
                // another era names the platform.
                let isLast = index == subject.eras.count - 1
                let givesAway = before.isEmpty ? "" : " and gets \(inWords(before.map(\.name))) for nothing"
                let consequence =
                    isNamed
                    ? "\(subject.name(index)) didn't happen there, and everyone who gets the app there counts as \(subject.name(index - 1))\(givesAway)"
                    : "nothing shows which customers on \(name) came before \(subject.name(index)), so \(inWords(different)) can't be decided by how the app was acquired"
                let path: [PolicyMistake.Step] = ["eras", .index(index)]
                report.add(
                    at: path, as: [name], severity: isNamed && !isLast ? .note : .error,
                    "\(subject.name(index)) doesn't say where it begins on \(name), and \(proof): \(consequence)",
                    fixes: isNew
                        ? .suggestion(
                            "write `\(name): new`: the first release there came after \(subject.name(index)) had begun",
                            .write(.plain("new"), at: path + ["begins", .key(name)])) : nil,
                    "add `\(name)` under `begins` of \(subject.name(index)), with its first \(platform.key.rawValue) there, its instant, or both; its value is `new` if the app came to \(name) in that era"
                )
            }
        }
    }
}

extension LintPlatform {
    /// Whether the platform's first release came out after the era had begun on all platforms for which its date is
    /// known. False if no date is known.
    fileprivate func startsAfter(_ era: Int, first release: Release, in subject: LintSubject) -> Bool {
        let dates = subject.eras[era].begins.values.compactMap(\.date)
        return !dates.isEmpty && dates.allSatisfy { $0 <= release.releasedAt.sortingDate }
    }
}
