import Foundation
import TenureCore

/// The change from one era (a period in which the app was paid, or free) to the next on one platform.
struct EraChange: Sendable {
    /// The index of the new era.
    let index: Int
    /// The index of the era before it on the platform.
    let previous: Int
    let platform: LintPlatform
    /// The earlier era.
    let before: Era
    /// The new era.
    let after: Era
    /// The first version of the new era; nil if the policy doesn't state it.
    let version: AppVersion?
    /// The first date of the new era; nil if the policy doesn't state it.
    let date: Date?
    /// The path of the beginning in the file.
    let path: [PolicyMistake.Step]
    /// The names of the entitlements that customers of the earlier era would lose, wholly or in part, if they counted
    /// as customers of the new era.
    let lostEntitlements: [String]
    /// The names of the entitlements that customers of the new era would lose, wholly or in part, if they counted as
    /// customers of the earlier era.
    let gainedEntitlements: [String]

    /// Whether the two eras give different entitlements.
    var matters: Bool { !lostEntitlements.isEmpty || !gainedEntitlements.isEmpty }

    /// Finds the change to an era. Nil if the era has no beginning on the platform, or is the first era there. Nil also
    /// if the era begins as `new`, because the app came to the platform in that era.
    init?(to index: Int, on platform: LintPlatform, in subject: LintSubject) {
        let beginnings = platform.timeline.beginnings
        guard beginnings.indices.contains(index), index > platform.timeline.firstEra,
            case .at(let version, let date)? = beginnings[index],
            let previous = platform.timeline.eras.last(before: index)
        else { return nil }
        func names(lostFrom era: Int, countedIn other: Int) -> [String] {
            subject.entitlements.filter { !subject.keeps($0, of: era, countedIn: other) }.map(\.name)
        }
        self.index = index
        self.previous = previous
        self.platform = platform
        self.version = version
        self.date = date
        before = subject.eras[previous]
        after = subject.eras[index]
        path = subject.path(ofBeginning: index, on: platform)
        lostEntitlements = names(lostFrom: previous, countedIn: index)
        gainedEntitlements = names(lostFrom: index, countedIn: previous)
    }
}
