import Foundation
import TenureCore
import TenureJSON
package import TenurePolicyLint

/// The whole result of a rehearsal (a dry run of a policy over real customers). `TextReport`, `json` and `HTMLReport`
/// write it for a terminal, for programs and as a page.
package struct RehearsalReport: Sendable {
    /// Where the customers come from.
    package enum Input: Sendable {
        /// An evidence file with signed artifacts of customers: its path, and the counts of its lines. `badLines` is
        /// the path of the file that lists the rejected lines (nil if no lines were rejected). `anonymousIDs` are the
        /// `id`s that were ignored, because they are placeholders such as `none`.
        case evidence(
            name: String, counts: InputCounts, badLines: String?, anonymousIDs: [EvidenceRehearsal.AnonymousID])
        /// A service's database: its name, and how many customers were skipped, because their artifacts are from
        /// another environment or signed by a test authority.
        case database(name: String, skipped: Int)
    }

    /// The name of the rehearsed policy: the path of its file, or its version.
    let policyName: String
    /// The name of the old policy to compare with; nil if there is no old policy.
    let oldPolicyName: String?
    /// The rehearsed policy and the old policy.
    let comparison: Comparison
    let input: Input
    let tally: Tally
    /// Whether the rehearsal ended before all customers were read.
    let isPartial: Bool
    /// Why the input couldn't be read to its end; nil if it was read to its end, or if the user stopped the rehearsal.
    let problem: RehearsalError?
    /// Whether the report shows customers' IDs. Otherwise it shows numbers, which identify no one.
    let showsIDs: Bool
    /// The conditions of `--fail-if`.
    let conditions: [FailCondition]
    /// The percentage of lines that may have a rejected artifact (`--allow-rejected`), from 0 to 100.
    let allowedRejected: Double
    /// The linter's findings about the new policy, compared with the old one.
    let findings: [LintFinding]

    package init(
        policyName: String, oldPolicyName: String?, comparison: Comparison, input: Input, tally: Tally,
        isPartial: Bool = false, problem: RehearsalError? = nil, showsIDs: Bool = false,
        conditions: [FailCondition] = [], allowedRejected: Double = Self.defaultAllowedRejected,
        findings: [LintFinding] = []
    ) {
        self.policyName = policyName
        self.oldPolicyName = oldPolicyName
        self.comparison = comparison
        self.input = input
        self.tally = tally
        self.isPartial = isPartial
        self.problem = problem
        self.showsIDs = showsIDs
        self.conditions = conditions
        self.allowedRejected = allowedRejected
        self.findings = findings
    }

    /// The policy's file name without its folder, which readers of the page don't know.
    var shortPolicyName: String { policyName.shortFileName }
    var shortOldPolicyName: String? { oldPolicyName.map(\.shortFileName) }

    /// The number of customers for whom the new policy changes nothing.
    var unchanged: Int { tally.customers - tally.changingReason - tally.changed }

    /// The entitlements of both policies, then entitlements that customers were promised, and that neither policy has.
    /// A promise is a recorded right that a policy can't take.
    var entitlements: [(name: String, tally: EntitlementTally)] {
        Array(zip(tally.entitlements, tally.byEntitlement))
            + tally.promisedOnly.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The results of all conditions.
    var measurements: [FailCondition.Measurement] { conditions.map { $0.measurement(in: self) } }

    /// The names under which the report shows the example customers.
    var names: ExampleNames { ExampleNames(in: tally, showingIDs: showsIDs) }

    /// Sentences about unusual facts: contradicting proofs, and products that no entitlement lists.
    var remarks: [String] {
        var remarks: [String] = []
        if tally.contradicting > 0 {
            remarks.append("\(contradictions): the version and the purchase date prove different eras")
        }
        let products = tally.productsWithoutEntitlement.sorted(byCount: \.value, then: \.key)
        for (product, count) in products.prefix(Self.maximumProducts) {
            remarks.append(purchases(of: product, by: count))
        }
        if products.count > Self.maximumProducts {
            remarks.append(
                "no entitlement lists \((products.count - Self.maximumProducts).grouped("more product")) that customers have bought; the JSON report has them all"
            )
        }
        return remarks
    }

    /// A clause such as "2 customers (5%) have contradicting proofs".
    var contradictions: String {
        let count = tally.contradicting
        return
            "\(count.grouped("customer")) (\(count.share(of: tally.customers))) \(count == 1 ? "has" : "have") contradicting proofs"
    }

    /// Returns a clause about a product that no entitlement lists, and the number of customers who have bought it.
    func purchases(of product: String, by count: Int) -> String {
        "\(count.grouped("customer")) \(count == 1 ? "has" : "have") bought `\(product)`, which no entitlement lists"
    }

    /// The maximum number of products that remarks name.
    private static let maximumProducts = 5

    /// Returns a sentence about the `id`s that the rehearsal ignored, because they are placeholders.
    func remark(on anonymous: [EvidenceRehearsal.AnonymousID]) -> String {
        let count = anonymous.count
        let names =
            showsIDs
            ? " (\(anonymous.prefix(3).map { "`\($0.id)`" }.joined(separator: ", "))\(count > 3 ? ", …" : ""))" : ""
        let maximumAccounts = anonymous.map(\.accounts).max() ?? 0
        return count == 1
            ? "1 `id`\(names) is shared by \(maximumAccounts.grouped) Apple Accounts, so it doesn't identify a customer and is ignored"
            : "\(count.grouped) `id`s\(names) are each shared by up to \(maximumAccounts.grouped) Apple Accounts, so they don't identify customers and are ignored"
    }
}

extension Date {
    /// The date for people: `June 10, 2015`, or `June 10, 2015, 18:00 UTC` if the time isn't midnight.
    var readable: String {
        let day = CivilDay(of: self)
        let minutes = Int((timeIntervalSince(day.midnight) / 60).rounded(.down))
        guard minutes > 0, minutes < 24 * 60 else { return day.inWords }
        let (hour, minute) = (minutes / 60, minutes % 60)
        return "\(day.inWords), \(hour.padded(to: 2)):\(minute.padded(to: 2)) UTC"
    }
}

extension Set<String> {
    /// A clause about these products, which the new policy no longer lists for an entitlement, such as `` `a` and `b`
    /// no longer grant it``.
    var removal: String {
        let maximumNamed = 3
        let named = sorted().prefix(maximumNamed).map { "`\($0)`" }
        let others = count > maximumNamed ? ["\((count - maximumNamed).grouped("other product"))"] : []
        return "\((named + others).listed) no longer grant\(count == 1 ? "s" : "") it"
    }
}
