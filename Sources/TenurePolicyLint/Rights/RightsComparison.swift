import Foundation
import TenureCore

/// Finds the rights that existing customers would lose if a new policy replaces the old one. The rules about the
/// previous policy report these losses.
///
/// This type divides the ways in which customers can have acquired the app into classes. Each policy treats all
/// acquisitions of a class alike: they have the same platform, and their versions (`VersionClasses`) and dates
/// (`DateClasses`) prove the same eras (`Era`). For one acquisition of each class, `decide` is called with both
/// policies.
struct RightsComparison: Sendable {
    private let old: Policy
    private let new: Policy
    private let now: Date

    /// The rights that customers have because of how they acquired the app, and would lose.
    private(set) var losses: [Loss] = []
    /// The entitlements that products grant under the old policy, and would grant no longer, shorter or not for
    /// certain.
    private(set) var productLosses: [(entitlement: String, product: String, fate: Fate)] = []

    /// The builds or versions of the releases that have come out, by platform. A platform is missing if no release list
    /// has it.
    private let existingVersions: [Platform: Set<AppVersion>]

    /// Compares the policies.
    ///
    /// - Parameters:
    ///   - releases: the releases of a separate list. The release lists in both policies are also used.
    ///   - now: the time of the check. `distantFuture` if no time is considered.
    init(from old: Policy, to new: Policy, existing releases: [Release] = [], at now: Date) {
        var existing: [Platform: Set<AppVersion>] = [:]
        for release in releases + old.releases + new.releases {
            // Skip releases that aren't out yet. A day begins in the first time zone 14 hours before its midnight in
            // UTC.
            guard let number = release.originalAppVersion,
                release.releasedAt.sortingDate.addingTimeInterval(-14 * 3600) <= now
            else { continue }
            existing[release.platform, default: []].insert(number)
        }
        self.existingVersions = existing
        self.old = old
        self.new = new
        self.now = now
        losses = platforms.flatMap { losses(on: $0) }
        productLosses = lostPurchases
    }

    /// What the new policy makes of a right that the old policy grants.
    enum Fate: Sendable, Hashable {
        /// The right would be denied, or would have ended before the time of the check.
        case denied
        /// The right would end at `to` instead of at `from`, which is later. If `from` is nil, the right is permanent
        /// under the old policy.
        case shortened(from: Date?, to: Date)
        /// The right would be neither granted nor denied.
        case undetermined
    }

    /// One entitlement that all customers of some classes would lose.
    struct Loss: Sendable, Hashable {
        let entitlement: String
        /// The platform of the customers; nil for receipts, which contain no platform.
        let platform: Platform?
        let fate: Fate
        /// The customers who would lose it, for the message, such as "customers who got the app on iOS, with build
        /// 37,".
        let customers: String
        /// The same customers for the finding's place, which acknowledgments name: platform, versions and dates.
        let details: [String]
    }

    // MARK: By how the app was acquired

    /// The platforms of both policies. If there are several, the list also contains nil for receipts, which contain no
    /// platform.
    private var platforms: [Platform?] {
        let namedPlatforms = Platform.allCases.filter { platform in
            [old, new].contains { $0.timelines.known.contains { $0.platform == platform } }
        }
        return namedPlatforms.count == 1 ? namedPlatforms : namedPlatforms + [nil]
    }

    /// Compares the policies for one acquisition of each class on a platform, and groups the losses.
    private func losses(on platform: Platform?) -> [Loss] {
        let timelines = [old, new].flatMap { $0.timelines.possible(for: platform) }
        let versions = VersionClasses(timelines: timelines, platform: platform, existing: numbers(on: platform))
        let dates = DateClasses(timelines: timelines, policies: [old, new], now: now)
        guard !versions.classes.isEmpty else { return [] }
        // For each lost right and class of versions, the classes of dates with which it is lost, all by index.
        var cells: [Key: [Int: Set<Int>]] = [:]
        var keysInOrder: [Key] = []
        for versionIndex in versions.classes.indices {
            for dateIndex in dates.classes.indices {
                let date = dates.classes[dateIndex].representative
                let proof = AppProof(
                    kind: platform == nil ? .receipt : .appTransaction, signedDate: date, originalPlatform: platform,
                    originalAppVersion: versions.classes[versionIndex].representative?.description,
                    originalPurchaseDate: date)
                let evidence = Evidence(environment: .production, app: [proof], purchasesAreComplete: true)
                let fates = fates(of: evidence)
                for entitlement in old.entitlements {
                    guard let fate = fates[entitlement.name] else { continue }
                    let key = Key(entitlement: entitlement.name, fate: fate)
                    if cells[key] == nil { keysInOrder.append(key) }
                    cells[key, default: [:]][versionIndex, default: []].insert(dateIndex)
                }
            }
        }
        return keysInOrder.flatMap { key -> [Loss] in
            // Classes of versions that lose the same on the same dates are reported together.
            let versionsOfDates = Dictionary(grouping: cells[key] ?? [:], by: \.value)
                .mapValues { $0.map(\.key).sorted() }
            let groups = versionsOfDates.map { (dates: $0.key, versions: $0.value) }
                .sorted { $0.versions.lexicographicallyPrecedes($1.versions) }
            return groups.map { group in
                let limits = (versions: versions.inWords(group.versions), dates: dates.inWords(group.dates))
                return Loss(
                    entitlement: key.entitlement, platform: platform, fate: key.fate,
                    customers: customers(on: platform, versions: limits.versions, dates: limits.dates),
                    details: [platform?.rawValue ?? "receipt", limits.versions, limits.dates].compactMap { $0 })
            }
        }
    }

    /// What a class of customers loses. Losses with the same key can be reported together.
    private struct Key: Hashable {
        let entitlement: String
        let fate: Fate
    }

    /// Returns the builds or versions of all releases on a platform; nil if there is no list.
    private func numbers(on platform: Platform?) -> Set<AppVersion>? {
        guard let platform else {
            // A receipt may be from any platform, so there must be a list for each platform.
            let possible = platforms.compactMap { $0 }.map { numbers(on: $0) }
            return possible.contains(nil) ? nil : possible.compactMap { $0 }.reduce(into: []) { $0.formUnion($1) }
        }
        return existingVersions[platform] ?? (platform.inheritsFromIOS ? existingVersions[.iOS] : nil)
    }

    /// Describes the customers of some classes for a message.
    ///
    /// - Parameters:
    ///   - versions: the text of `VersionClasses.inWords`; nil for any version.
    ///   - dates: the text of `DateClasses.inWords`; nil for any date.
    private func customers(on platform: Platform?, versions: String?, dates: String?) -> String {
        let onPlatform = platform.map { " on \($0.rawValue)" } ?? " by a receipt without a platform"
        let limits = [versions.map { "with \($0)" }, dates].compactMap { $0 }
        return "customers who got the app\(onPlatform)"
            + (limits.isEmpty ? "" : ", " + limits.joined(separator: ", ") + ",")
    }

    // MARK: By what was bought in the app

    /// The products that grant less under the new policy.
    private var lostPurchases: [(entitlement: String, product: String, fate: Fate)] {
        old.entitlements.flatMap { entitlement in
            entitlement.products.compactMap { product -> (entitlement: String, product: String, fate: Fate)? in
                let changes = purchasesOfEachType(of: product).lazy.compactMap { fates(of: $0)[entitlement.name] }
                return changes.first.map { (entitlement.name, product.id, $0) }
            }
        }
    }

    /// Returns the evidence of a purchase of the product, once for each type that the product may have. The policy
    /// doesn't say which type it has.
    private func purchasesOfEachType(of product: Entitlement.Product) -> [Evidence] {
        let bought = now == .distantFuture ? Date(timeIntervalSince1970: 0) : now
        let types: [(type: Purchase.ProductType, expires: Date?)] = [
            (.nonConsumable, nil), (.autoRenewable, .distantFuture), (.nonRenewing, nil),
        ]
        return types.map { type, expires in
            let purchase = Purchase(
                transactionID: "1", productID: product.id, type: type, purchaseDate: bought, expiresDate: expires,
                signedDate: bought)
            return Evidence(environment: .production, transactions: [purchase], purchasesAreComplete: true)
        }
    }

    // MARK: Both decisions

    /// Returns the rights of a customer that would change for the worse, by the entitlement's name.
    private func fates(of evidence: Evidence) -> [String: Fate] {
        // Decide at a time before any right ends, so that the ends can be compared.
        let before = decide(evidence, under: old, at: .distantPast).filter { $0.outcome == .granted }
        guard !before.isEmpty else { return [:] }
        let after = Dictionary(
            decide(evidence, under: new, at: .distantPast).map { ($0.entitlement, $0) },
            uniquingKeysWith: { first, _ in first })
        var result: [String: Fate] = [:]
        for right in before where right.until.map({ now == .distantFuture || now < $0 }) ?? true {
            let decision = after[right.entitlement]
            switch decision?.outcome {
            case .denied, nil: result[right.entitlement] = .denied
            case .undetermined:
                // Without an acquisition, an entitlement with `honors` is undetermined even if no product grants it. So
                // the purchase is lost, unless its own end is unknown, which needs support (rule G2 of
                // Docs/decision-rules.md).
                let needsSupport = decision?.nextSteps.contains(.support) == true
                result[right.entitlement] = evidence.acquisitions.isEmpty && !needsSupport ? .denied : .undetermined
            case .granted:
                if let end = decision?.until, right.until.map({ end < $0 }) ?? true {
                    // If the new end has passed, customers would lose the right at once.
                    let isOver = now != .distantFuture && end <= now
                    result[right.entitlement] = isOver ? .denied : .shortened(from: right.until, to: end)
                }
            }
        }
        return result
    }
}
