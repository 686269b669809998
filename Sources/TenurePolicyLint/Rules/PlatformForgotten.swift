import TenureCore
import TenurePolicyFile

/// A universal app: iOS builds near a thousand, Apple TV builds near two thousand, one record for both. The first attempt
/// compared everything with the one number.
extension LintRule {
    static let platformForgotten = LintRule(
        "platform-forgotten", .error, "a platform that an era does not mention",
        story: "A universal app went free on the phone and was forgotten on the Mac: there nothing says who had paid.",
        fix: "Give the era a beginning on that platform, or `new` where the platform began with it."
    ) { subject, report in
        for platform in subject.platforms {
            let beginnings = platform.timeline.beginnings
            for index in subject.eras.indices.dropFirst()
            where index > platform.timeline.firstEra && beginnings.indices.contains(index) && beginnings[index] == nil {
                let before = subject.honored(in: index - 1)
                let after = subject.honored(in: index)
                let different = before.filter { !after.contains($0) } + after.filter { !before.contains($0) }
                guard !different.isEmpty else { continue }
                let name = platform.platform.rawValue
                let key = platform.key.rawValue
                let first = platform.releases.first?.release
                let isNew = first.flatMap { platform.startsAfter(index, first: $0, in: subject) } ?? false
                let proof =
                    first.map { "the release list has it since \($0.releasedAt.text)" }
                    ?? "another era mentions it"
                report.add(
                    at: ["eras", .index(index)],
                    "\(subject.name(index)) does not say where it begins on \(name), and \(proof): nothing tells there who came before it, so that \(inWords(different)) cannot be decided by how the app was acquired",
                    fix: isNew
                        ? "write `\(name): new`: the first release there came after \(subject.name(index)) had begun"
                        : "write `\(name): { \(key): …, at: … }` under `begins`, or `\(name): new` if the app came to \(name) with \(subject.name(index))"
                )
            }
        }
    }
}

extension LintPlatform {
    /// Whether the platform's first release came after the era had begun on every platform that says when.
    fileprivate func startsAfter(_ era: Int, first release: Release, in subject: LintSubject) -> Bool {
        let dates = subject.eras[era].begins.values.compactMap(\.date)
        return !dates.isEmpty && dates.allSatisfy { $0 <= release.releasedAt.sortingDate }
    }
}
