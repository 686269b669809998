import TenureCore

/// Why customers lose an entitlement: the platform on which they got the app, and the outcomes and reasons under both
/// policies.
struct LossCause: Sendable, Hashable {
    /// The platform; nil if it is unknown.
    let platform: Platform?
    /// The outcome and the reason under the old policy.
    let before: Answer
    /// The outcome and the reason under the new policy.
    let now: Answer
    /// Whether the new policy no longer lists the product that granted the entitlement.
    let isOfRemovedProduct: Bool

    /// Creates the cause of a loss; nil if the customer doesn't lose the entitlement.
    init?(_ effect: Effect, on platform: Platform?) {
        guard let before = effect.before, effect.change == .loses else { return nil }
        self.platform = platform
        self.before = before.withoutEnd
        now = effect.now.withoutEnd
        isOfRemovedProduct = effect.removedProduct != nil
    }
}

/// The customers who lose an entitlement for one cause.
struct LossGroup: Sendable, Hashable {
    /// The number of these customers.
    private(set) var count = 0
    /// The lowest and the highest version in which these customers got the app; nil if no version is known.
    private(set) var versions: VersionRange?
    /// The first and the last month in which these customers got the app; nil if no month is known.
    private(set) var months: ClosedRange<Month>?
    /// The IDs of products that granted the entitlement, and that the new policy doesn't list for it.
    private(set) var removedProducts: Set<String> = []
    /// Some of these customers, as examples in the report.
    private(set) var examples = Examples(limit: Self.maximumExamples)

    /// The maximum number of examples.
    static let maximumExamples = 10

    /// Counts customers with the same place (platform, version and month of getting the app).
    ///
    /// - Parameters:
    ///   - product: the product that granted the entitlement and is no longer listed; nil if the loss has another
    ///     cause.
    ///   - times: the number of customers.
    mutating func add(_ place: Place, removing product: String?, times: Int) {
        count += times
        if let product { removedProducts.insert(product) }
        if case .version(let text) = place.version, let version = AppVersion(text) {
            versions = VersionRange(version).joined(with: versions)
        }
        if place.month.isCertain { months = Self.joined(place.month...place.month, months) }
    }

    /// Keeps the customer as an example if the rank of the customer is low enough (`Examples`).
    mutating func offer(_ customer: RehearsedCustomer, _ effect: Effect) {
        guard examples.admits(customer) else { return }
        examples.offer(Example(customer: customer, now: effect.now, before: effect.before))
    }

    mutating func add(_ other: LossGroup) {
        count += other.count
        if let more = other.versions { versions = more.joined(with: versions) }
        if let more = other.months { months = Self.joined(more, months) }
        removedProducts.formUnion(other.removedProducts)
        examples.add(other.examples)
    }

    /// Returns the period from the first to the last month of both periods.
    private static func joined(_ one: ClosedRange<Month>, _ other: ClosedRange<Month>?) -> ClosedRange<Month> {
        guard let other else { return one }
        return min(one.lowerBound, other.lowerBound)...max(one.upperBound, other.upperBound)
    }
}
