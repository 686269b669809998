import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about eras (periods in which the app was paid, or free), the platforms on which they begin, and the
/// changeover windows between them.
extension LintRule {
    /// Finds an `Era` to which no customer can belong, or that can't be separated from the next era:
    /// - The era ends at the instant at which it begins.
    /// - The era and the next era begin with the same version, and at least one of them has no date.
    /// - On each platform, the app came only in a later era.
    ///
    /// For example, the middle of three eras has the same beginning as the last era.
    static let eraNeverApplies = LintRule(
        "era-never-applies", .warning, "an era that can have no customers, or can't be separated from the next era",
        rationale:
            "An era that ends at the build and instant at which it begins has no customers. Honoring it gives no one anything.",
        fix: "Correct the beginning of the era or of the next era, or remove the era."
    ) { subject, report in
        for platform in subject.platforms {
            let beginnings = platform.timeline.beginnings
            for index in beginnings.indices.dropFirst().dropLast() where index >= platform.timeline.firstEra {
                guard case .at(let version, let date)? = beginnings[index],
                    let following = platform.timeline.era(after: index),
                    case .at(let nextVersion, let nextDate)? = beginnings[following],
                    let change = EraChange(to: following, on: platform, in: subject)
                else { continue }
                let era = subject.name(index)
                let next = subject.name(following)
                if let date, date == nextDate {
                    report.add(
                        at: change.path,
                        "\(era) ends on \(platform.name) at the instant at which it begins (\(date.rfc3339)): no customer belongs to it, so honoring it gives nothing",
                        fixes: "correct `at` of \(era) or of \(next)")
                } else if let version, version == nextVersion, date == nil || nextDate == nil {
                    report.add(
                        at: change.path,
                        "\(era) and \(next) begin on \(platform.name) with one \(platform.noun) (\(version)), and no instant separates them: customers who came then may belong to either",
                        fixes: "add `at` to both eras, or correct one \(platform.noun)")
                }
            }
        }
        // On each platform, the app came only in a later era.
        for index in subject.eras.indices {
            let isAnywhere = subject.platforms.contains { $0.timeline.eras.contains(index) }
            guard !subject.platforms.isEmpty, !isAnywhere else { continue }
            report.add(
                at: ["eras", .index(index)],
                "\(subject.name(index)) never applies: every platform is `new` in a later era",
                fixes:
                    "remove the era, or replace `new` with a build or an instant on each platform where the app existed before"
            )
        }
    }

    /// Finds an `Era` that has begun, but has no release in the policy's release list. Perhaps new releases weren't
    /// added to the list.
    static let eraWithoutRelease = LintRule(
        "era-without-release", .warning, "an era that has begun, but has no release in the policy's release list",
        rationale:
            "A build that isn't in the list doesn't show in which era the customer got the app. If the list ends before the new era begins, Tenure can judge every later customer only by date.",
        fix: "Append every release to the policy's release list, before it ships.", needs: .releases
    ) { subject, report in
        for change in subject.changes where change.platform.decidesByList && change.matters {
            let platform = change.platform
            let releaseEras = platform.releases.map { platform.era(of: $0.release) }
            // Report nothing if a release's era isn't certain. An undated last release may belong to the new era.
            guard !releaseEras.isEmpty, !releaseEras.contains(where: { $0 == nil }),
                platform.listedReleases.last?.releasedAt != .undated,
                !releaseEras.contains(where: { ($0 ?? 0) >= change.index }),
                change.date.map({ $0 <= subject.now }) ?? true
            else { continue }
            let last = platform.releases.last?.release
            report.add(
                at: change.path,
                "the release list's last release on \(platform.name) is \(last.map { "\(platform.noun) \($0.numberInWords) (\($0.releasedAt.text))" } ?? "none"), before `\(change.after.name.shortened)` begins: the \(platform.noun) of every later customer isn't in the list and proves nothing",
                fixes: "append the releases of `\(change.after.name.shortened)` to the release list")
        }
    }

    /// Finds a platform on which an `Era` has no beginning, although another era or the release list has the platform.
    /// Then the policy doesn't say when the change to that era happened on the platform.
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
                // The entitlements that customers of one era would lose if they counted as customers of the other era.
                let ofPreviousEra = subject.entitlements.filter { !subject.keeps($0, of: index - 1, countedIn: index) }
                let ofEra = subject.entitlements.filter { !subject.keeps($0, of: index, countedIn: index - 1) }
                let names = Set((ofPreviousEra + ofEra).map(\.name))
                let different = subject.entitlements.map(\.name).filter { names.contains($0) }
                guard !different.isEmpty else { continue }
                let first = platform.releases.first?.release
                // Whether the first release came out after the era had begun on all other platforms with a known date.
                // False if no date is known.
                let dates = subject.eras[index].begins.values.compactMap(\.date)
                let isNew =
                    first.map { first in !dates.isEmpty && dates.allSatisfy { $0 <= first.releasedAt.sortingDate } }
                    ?? false
                let proof =
                    first.map { "the release list has releases for \(platform.name) since \($0.releasedAt.text)" }
                    ?? "another era mentions \(platform.name)"
                // A middle era, such as a promotion, usually isn't on all platforms. So report only a note for it, if
                // another era names the platform.
                let isLast = index == subject.eras.count - 1
                let givesAway =
                    ofPreviousEra.isEmpty ? "" : " and gets \(inWords(ofPreviousEra.map(\.name))) for nothing"
                let consequence =
                    isNamed
                    ? "\(subject.name(index)) didn't happen there, and everyone who gets the app there counts as \(subject.name(index - 1))\(givesAway)"
                    : "nothing shows which customers on \(platform.name) came before \(subject.name(index)), so \(inWords(different)) can't be decided by how the app was acquired"
                let path: [PolicyMistake.Step] = ["eras", .index(index)]
                report.add(
                    at: path, as: [platform.name], severity: isNamed && !isLast ? .note : .error,
                    "\(subject.name(index)) doesn't say where it begins on \(platform.name), and \(proof): \(consequence)",
                    fixes: isNew
                        ? .suggestion(
                            "write `\(platform.name): new`: the first release there came after \(subject.name(index)) had begun",
                            .write(.string("new"), at: path + ["begins", .key(platform.name)])) : nil,
                    "add `\(platform.name)` under `begins` of \(subject.name(index)), with its first \(platform.noun) there, its instant, or both; its value is `new` if the app came to \(platform.name) in that era"
                )
            }
        }
    }

    /// Finds platforms that use the boundaries of iOS (the builds with which eras begin), because the policy has none
    /// for them. If one purchase is valid on several platforms, the builds may still differ between them.
    static let inheritsFromIOS = LintRule(
        "inherits-from-ios", .note, "a tvOS, watchOS or visionOS app that uses the boundaries of iOS",
        rationale:
            "In one app, builds for Apple TV were near two thousand and builds for the phone near one thousand. One boundary applied to both platforms.",
        fix:
            "Add the platform under `begins` with its own builds, or with `new` if the app came to the platform in that era."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() {
            guard case .at(let version?, _)? = era.begins[.iOS],
                !subject.entitlementsHonoring(era: index).elementsEqual(subject.entitlementsHonoring(era: index - 1))
            else { continue }
            let inheritingPlatforms = Platform.allCases.filter { platform in
                platform.inheritsFromIOS && era.begins[platform] == nil
                    && !subject.eras[index...].contains { $0.begins[platform] == .new }
                    // Report only platforms in the policy or a release list: most apps aren't on the other platforms.
                    && subject.platforms.contains { $0.platform == platform }
            }
            guard !inheritingPlatforms.isEmpty else { continue }
            let names = inheritingPlatforms.map(\.rawValue).joined(separator: ", ")
            report.add(
                at: ["eras", .index(index), "begins", "iOS"],
                "customers who first got the app on \(names) are judged by iOS's build \(version)",
                fixes:
                    "if builds differ there, add \(names) under `begins` of `\(era.name.shortened)`; its value is `new` if the app came there in that era"
            )
            return
        }
    }

    /// Finds a change from one `Era` to the next without a changeover window. The window is the time around the change
    /// in which price and build may disagree. Without it, customers who come in between may be assigned to the wrong
    /// era.
    ///
    /// An era is honored if its customers have an entitlement because of it. At the end of an honored era, the reader
    /// of the policy file reports a missing window as a mistake (Docs/adr/0003-changeover-is-required.md). At the
    /// beginning of one, this rule reports a warning.
    static let noChangeover = LintRule(
        "no-changeover", .error, "a dated change that gives or takes an entitlement, without `changeover`",
        rationale:
            "The price, the storefronts and the app's version rarely change together: someone who paid in the hours between may be an owner by the date and a new customer by the build, or the reverse.",
        fix:
            "Write `changeover: { from: -24h, until: +48h }`, or `changeover: none` if price and version changed at one instant."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() where era.changeover == nil {
            let change = subject.changes.first { $0.index == index && $0.date != nil && !$0.gainedEntitlements.isEmpty }
            guard let change, let date = change.date,
                !subject.draft.hasValue(at: ["eras", .index(index), "changeover"]),
                !subject.draft.isBroken(["eras", .index(index), "changeover"])
            else { continue }
            // At the end of an honored era, the reader of the policy file reports the missing window.
            guard subject.entitlementsHonoring(era: change.previous).isEmpty else { continue }
            report.add(
                at: ["eras", .index(index)], severity: .warning,
                "`\(era.name.shortened)` doesn't state its changeover: customers who got the app just after \(date.rfc3339), in a storefront that hadn't changed yet, get \(inWords(change.gainedEntitlements)) anyway",
                fixes: .suggestion(
                    "write `changeover: { from: -24h, until: +48h }` for `\(era.name.shortened)`",
                    .write(.defaultChangeover, at: ["eras", .index(index), "changeover"])),
                "say in `changeover` how long price and build can have disagreed around the change, or `none` if they changed at one instant"
            )
        }
    }

    /// Finds a changeover window without effect, because the era's beginning has no date, or the era is the first one.
    /// The window is the time around the beginning in which price and build may disagree.
    static let changeoverWithoutDate = LintRule(
        "changeover-without-date", .warning, "a changeover window without an instant",
        rationale: "A window surrounds the instant of the change; without that instant, the window has no effect.",
        fix: "Add `at` to the era's beginning on each platform. In the first era, remove `changeover`."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() where era.changeover?.window != nil {
            let undated = era.begins.filter { if case .at(_, nil) = $0.value { true } else { false } }
                .map(\.key.rawValue).filter { !subject.draft.isBroken(["eras", .index(index), "begins", .key($0)]) }
            if index == 0 {
                report.add(
                    at: ["eras", 0, "changeover"],
                    "`\(era.name.shortened)` is the first era: no change leads to this era, and its window has no effect",
                    fixes: .suggestion("remove `changeover`", .remove(["eras", 0, "changeover"])),
                    "move `changeover` to the era that follows")
            } else if !undated.isEmpty {
                report.add(
                    at: ["eras", .index(index), "changeover"],
                    "the beginning on \(undated.sorted().joined(separator: " and ")) has no date, so the changeover window has no effect there: customers who came during the change are judged by their version alone",
                    fixes: "add `at` to the era's beginning on each platform")
            }
        }
    }

    /// The longest window that isn't reported, in seconds.
    private static let widestWindow: TimeInterval = 14 * 86_400

    /// Finds a changeover window of more than two weeks. The window is the time around a change from one era to the
    /// next in which price and build may disagree. Everyone who gets the app in the window may count as an owner, so a
    /// long window gives the app away.
    static let changeoverWide = LintRule(
        "changeover-wide", .warning, "a changeover window of more than two weeks",
        rationale:
            "Everyone who gets the app in the window may be treated as an owner. After two days, the change has reached every storefront and cache. In a month, many new customers would get the app for free.",
        fix:
            "Let the window begin a day before the change, and end two days after the change. In this time, the App Store may show the old price with the new build, or the new price with the old build."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated() {
            guard let changeover = era.changeover?.window, changeover.until - changeover.from > widestWindow else {
                continue
            }
            let changes = subject.changes.filter { $0.index == index && $0.matters && $0.date != nil }
            guard let last = changes.max(by: { ($0.date ?? .distantPast) < ($1.date ?? .distantPast) }),
                let date = last.date
            else { continue }
            let until = date.addingTimeInterval(changeover.until).rfc3339
            let names = Set(changes.flatMap(\.lostEntitlements))
            let lost = subject.entitlements.map(\.name).filter { names.contains($0) }
            let consequence =
                lost.isEmpty || changeover.until <= 0 || subject.policy?.inDoubt == .undetermined
                ? "customers who acquired the app in this window may belong to either era"
                : "anyone who installed the app until \(until) gets \(inWords(lost)) for nothing"
            let path: [PolicyMistake.Step] = ["eras", .index(index), "changeover"]
            let (days, rest) = Int(changeover.until - changeover.from).quotientAndRemainder(dividingBy: 86_400)
            let width = "\(days) days" + (rest > 0 ? " and \(Duration.text(TimeInterval(rest)))" : "")
            report.add(
                at: path,
                "the changeover window of `\(era.name.shortened)` is \(width) wide, more than 14 days: \(consequence)",
                fixes: .suggestion("write `{ from: -24h, until: +48h }`", .write(.defaultChangeover, at: path)),
                "make the window as long as price and build can have disagreed")
        }
    }

    /// Finds changeover windows that overlap. Such a window is the time around a change from one era to the next in
    /// which a customer may belong to either era. If a short era has long windows around both of its ends, its
    /// customers may belong to three eras.
    static let erasOverlap = LintRule(
        "eras-overlap", .warning, "a changeover window that overlaps the next window",
        rationale:
            "Windows around both ends of a short era cover all of it: customers of that time get the best of three eras.",
        fix: "Make the windows narrower, so that they don't overlap."
    ) { subject, report in
        for platform in subject.platforms {
            // These windows are two seconds longer at each end (`Tolerance`) than in the policy. Compare and show them
            // as the policy states them.
            let windows = platform.timeline.changeovers
            for (first, second) in zip(windows, windows.dropFirst()) {
                let closing = first.window.upperBound.addingTimeInterval(-Tolerance.seconds)
                let opening = second.window.lowerBound.addingTimeInterval(Tolerance.seconds)
                guard closing > opening,
                    let index = second.eras.last, let change = EraChange(to: index, on: platform, in: subject),
                    let start = platform.timeline.beginnings[change.previous]?.date, let next = change.date,
                    start < next
                else { continue }
                let path: [PolicyMistake.Step] = ["eras", .index(index), "changeover"]
                // Suggest the longest window that doesn't overlap with the previous one.
                let hours = (next.timeIntervalSince(first.window.upperBound) / 3600).rounded(.down)
                let until = Duration.text(subject.eras[index].changeover?.window?.until ?? 0)
                report.add(
                    at: path, as: [platform.name],
                    "on \(platform.name) the changeover window of \(subject.name(index)) opens at \(opening.rfc3339), before that of `\(change.before.name.shortened)` has closed (\(closing.rfc3339)): customers who got the app in between may belong to \(inWords(first.eras.union(second.eras).map { subject.eras[$0].name }, "or"))",
                    fixes: hours >= 0
                        ? .suggestion(
                            "write `changeover: { from: -\(Int(hours))h, until: \(until) }`",
                            .write(
                                .object(["from": .string("-\(Int(hours))h"), "until": .string(until)]), at: path))
                        : nil,
                    "make both windows narrower")
            }
        }
    }
}

extension JSONValue {
    /// The `changeover` of an era: a day before the change and two days after it.
    static let defaultChangeover = object(["from": .string("-24h"), "until": .string("+48h")])
}
