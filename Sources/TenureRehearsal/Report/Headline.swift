import TenureCore
import TenurePolicyLint

/// The result of a rehearsal in one sentence, such as "Ready to ship: every outcome stays the same for all 20
/// customers." A rehearsal is a dry run of a policy over real customers.
struct Headline: Sendable, Hashable {
    /// Whether the rehearsed policy can be published.
    enum Level: String, Sendable, Hashable {
        /// Don't publish: customers lose something, or the rehearsal fails.
        case stop
        /// Check the result first: customers gain something, the policy may have a mistake, or customers have unusual
        /// evidence.
        case check
        /// Publish: no customer gains or loses anything, and nothing is unusual.
        case go
    }

    let level: Level
    let sentence: String

    init(of report: RehearsalReport) {
        let doubts = Self.doubts(in: report)
        let (level, sentence) = Self.verdict(on: report, isDoubtful: !doubts.isEmpty)
        self.level = level
        let clauses = [sentence] + (level == .stop ? [] : doubts)
        self.sentence = clauses.joined(separator: "; ") + Self.rejections(in: report) + "."
    }

    /// Returns the level and the sentence. The first of these that applies determines both:
    /// 1. The rehearsal is incomplete, or has no customers or too many rejected lines.
    /// 2. Customers lose something.
    /// 3. A condition of `--fail-if` is met.
    /// 4. The linter finds errors.
    /// 5. Nothing stops the release (`headlineWithoutLosses`).
    ///
    /// - Parameter isDoubtful: whether `doubts` isn't empty, so that a person should check the result.
    private static func verdict(on report: RehearsalReport, isDoubtful: Bool) -> (Level, String) {
        let tally = report.tally
        if report.isPartial {
            let why = report.problem == nil ? "it was stopped before the end" : "the input couldn't be read to its end"
            return (.stop, "No verdict: \(why)")
        }
        if tally.customers == 0 { return (.stop, "No verdict: no customer was rehearsed") }
        if report.failures.contains(where: { if case .tooManyRejected = $0 { true } else { false } }) {
            let allowed = report.allowedRejected.percent
            return (.stop, "No verdict: more than \(allowed) of the lines have a rejected artifact")
        }
        if tally.losing > 0 { return (.stop, "Do not ship: \(losses(in: report))") }
        if let measurement = report.measurements.first(where: \.fails) {
            return (
                .stop,
                "Do not ship: the condition “\(measurement.condition)” is met, with the value \(measurement.text)"
            )
        }
        let errors = report.findings.unacknowledgedErrors.count
        if errors > 0 { return (.stop, "Do not ship: `tenure policy check` reports \(errors.grouped("error"))") }
        return headlineWithoutLosses(report, isDoubtful: isDoubtful)
    }

    /// Returns the headline if nothing stops the release: who would gain, or that nothing changes.
    private static func headlineWithoutLosses(_ report: RehearsalReport, isDoubtful: Bool) -> (Level, String) {
        let tally = report.tally
        let customers = tally.customers.grouped("customer")
        guard report.comparison.old != nil else {
            let shares = report.entitlements.prefix(3).map {
                "\($0.tally.counts.granted.share(of: tally.customers)) have `\($0.name)`"
            }
            return (isDoubtful ? .check : .go, "Of \(customers), \(shares.listed)")
        }
        if tally.gaining > 0 {
            let mostGained = report.entitlements.max { $0.tally.counts.gains < $1.tally.counts.gains }
            let gain =
                mostGained.map { $0.tally.counts.gains == tally.gaining ? "`\($0.name)`" : "something" } ?? "something"
            return (
                .check,
                "No customer loses anything, and \(tally.gaining.grouped) of \(customers) would gain \(gain): check that you intend this"
            )
        }
        let result =
            tally.changed > 0
            ? "none of \(customers) gains or loses anything" : "every outcome stays the same for all \(customers)"
        let start = isDoubtful ? "Check before you ship" : "Ready to ship"
        return (isDoubtful ? .check : .go, "\(start): \(result)")
    }

    /// Returns clauses about mistakes that the policy may have even if no customer loses anything:
    /// - if there is no old policy: entitlements that honor an era (are given to its customers), but that no customer
    ///   has
    /// - customers with a version and a purchase date that prove different eras
    /// - products that customers have bought, and that no entitlement lists
    /// - warnings of the linter
    private static func doubts(in report: RehearsalReport) -> [String] {
        let granted = Dictionary(report.entitlements.map { ($0.name, $0.tally.counts.granted) }) { first, _ in first }
        let missing = report.comparison.new.entitlements
            .filter { !($0.honors ?? []).isEmpty && granted[$0.name] == 0 }
            .map { "`\($0.name)`" }
        let warnings = report.findings.unacknowledged(.warning).count
        var doubts: [String] = []
        if report.comparison.old == nil, !missing.isEmpty {
            let names = Array(missing.prefix(maximumEntitlements)).listed
            doubts.append(
                "no customer has \(names), although \(missing.count == 1 ? "it honors" : "they honor") an era")
        }
        let tally = report.tally
        if tally.contradicting > 0 { doubts.append(report.contradictions) }
        let products = tally.productsWithoutEntitlement
        if let (product, count) = products.first {
            doubts.append(
                products.count == 1
                    ? report.purchases(of: product, by: count)
                    : "customers have bought \(products.count.grouped("product")) that no entitlement lists")
        }
        if warnings > 0 { doubts.append("`tenure policy check` reports \(warnings.grouped("warning"))") }
        return doubts
    }

    /// The maximum number of entitlements in the sentence.
    private static let maximumEntitlements = 3

    /// Returns a clause about losses, such as "618 customers of builds 100–119 on iOS would lose `everything`". It
    /// names a few entitlements, those with the most losses first.
    private static func losses(in report: RehearsalReport) -> String {
        let losing = report.tally.losing.grouped("customer")
        let entitlements = Dictionary(grouping: report.losses, by: \.entitlement)
            .map { (name: $0.key, losses: $0.value, count: $0.value.reduce(0) { $0 + $1.count }) }
            .sorted(byCount: \.count, then: \.name)
        var parts = entitlements.prefix(maximumEntitlements).map { name, losses, count -> String in
            guard let largest = losses.first else { return "" }
            let customers = count.grouped("customer")
            return losses.count == 1
                ? "\(customers) \(largest.place) would lose `\(name)`"
                : "\(customers) (\(largest.count.grouped) of them \(largest.place)) would lose `\(name)`"
        }
        let omitted = entitlements.count - parts.count
        if omitted > 0 { parts.append("others would lose \(omitted.grouped("other entitlement"))") }
        switch parts.count {
        case 0: return "\(losing) would lose something"
        case 1: return parts[0]
        default: return "\(parts.listed), \(losing) in all"
        }
    }

    /// Returns a clause about rejected lines, because the other numbers don't include them. Empty if no line was
    /// rejected.
    private static func rejections(in report: RehearsalReport) -> String {
        guard case .evidence(_, let counts, _, _) = report.input, counts.linesWithRejections > 0 else { return "" }
        let rejected = counts.linesWithRejections
        return "; \(rejected.grouped) of \(counts.writtenLines.grouped("line")) "
            + "(\(rejected.share(of: counts.writtenLines))) \(rejected == 1 ? "was" : "were") rejected, whole or in part"
    }
}

/// The customers who got the app on one platform and lose one entitlement.
struct PlatformLoss: Sendable {
    /// The name of the entitlement.
    let entitlement: String
    /// The platform; nil if it is unknown.
    let platform: Platform?
    /// The number of customers.
    let count: Int
    /// The lowest and the highest version in which these customers got the app; nil if no customer has a version.
    let versions: VersionRange?

    /// The versions and the platform, such as `of builds 100–119 on iOS`.
    var place: String {
        let place = platform.map { "on \($0.rawValue)" } ?? "on an unknown platform"
        guard let versions else { return place }
        return "of \(versions.phrase(on: platform)) \(place)"
    }
}

extension [String] {
    /// The elements as a list in a sentence: `a, b and c`.
    var listed: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}

extension RehearsalReport {
    /// The result of the rehearsal in one sentence.
    var headline: Headline { Headline(of: self) }

    /// The losses of all causes by entitlement and platform, the most frequent first.
    var losses: [PlatformLoss] {
        let losses = entitlements.flatMap { name, tally in
            Dictionary(grouping: tally.losses, by: \.key.platform).map { platform, groups in
                PlatformLoss(
                    entitlement: name, platform: platform, count: groups.reduce(0) { $0 + $1.value.count },
                    versions: groups.compactMap(\.value.versions).reduce(nil) { $1.joined(with: $0) })
            }
        }
        // The null character comes before all other characters, so the entitlement's name decides first.
        return losses.sorted(byCount: \.count) { "\($0.entitlement)\0\($0.platform?.rawValue ?? "")" }
    }
}
