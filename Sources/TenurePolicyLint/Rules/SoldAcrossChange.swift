import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds a release that was still on sale after the next era (period in which the app was paid, or free) had begun, if
/// its version gives customers entitlements that their purchase date wouldn't.
///
/// When a release without a date was replaced is known only if the next release in the list has a date.
extension LintRule {
    static let soldAcrossChange = LintRule(
        "sold-across-change", .error, "a release that stayed on sale beyond the beginning of the next era",
        rationale:
            "The price and the app's version rarely change together: someone who downloads yesterday's paid build for free looks like an owner.",
        fix:
            "Add the release list to the policy (key `releases`), or let the changeover window reach to the next release.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            for (index, listed) in platform.orderedReleases.enumerated() {
                guard let number = listed.release.originalAppVersion, let sale = platform.eraAndSale(at: index)
                else { continue }
                // If the change is in the future, a newer release may come out before it.
                for moment in platform.representativeDates(from: sale.from, until: sale.until)
                where moment <= subject.now {
                    let eras = platform.timeline.eras(at: moment)
                    guard let now = eras.first, eras.count == 1, now > sale.era else { continue }
                    let unpaidEntitlements = subject.extraEntitlements(number, on: platform.platform, bought: moment)
                    guard !unpaidEntitlements.isEmpty else { continue }
                    let until =
                        sale.until == .distantFuture
                        ? "is still the newest in the release list" : "was on sale until \(sale.until.rfc3339)"
                    let isDated = listed.release.releasedAt != .undated
                    let start = platform.beginning(of: moment, since: sale.from).inMinutes
                    let change = EraChange(to: now, on: platform, in: subject)
                    let isDateWrong = change.map { subject.contradictedDate(of: $0) != nil } ?? false
                    report.add(
                        // If this is the last release in the list, the list may be incomplete.
                        at: listed, severity: sale.until == .distantFuture ? .warning : .error, on: platform,
                        "\(platform.name(of: listed.release)) on \(platform.platform.rawValue) \(isDated ? "came out in" : "counts as") \(subject.name(sale.era)) and \(until), in \(subject.name(now)): anyone who installed it after \(start) gets \(inWords(unpaidEntitlements)) for nothing",
                        fixes: isDateWrong
                            ? nil
                            : subject.useOfList.map {
                                .suggestion("write `releases: \($0.path)`, so that the date decides", $0.edit)
                            },
                        isDateWrong
                            ? "correct `at` of \(subject.name(now))"
                            : platform.decidesByList
                                ? "check the release's date"
                                : "add a complete release list to the policy (key `releases`), so that the date decides"
                    )
                    break
                }
            }
        }
    }
}

extension Date {
    /// The date without seconds.
    fileprivate var inMinutes: String {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 60).rounded(.down) * 60).rfc3339
    }
}
