public import Foundation

/// Something that a customer may use, such as `premium`, and what grants it: products, or the era (period with one
/// business model) in which the customer got the app.
public struct Entitlement: Sendable, Hashable {
    /// A product that grants the entitlement while its purchase is valid (rule F1 of Docs/decision-rules.md).
    public struct Product: Sendable, Hashable {
        /// The product ID in App Store Connect.
        public let id: String
        /// A hash of the ID. Comparing it first is faster than comparing the IDs.
        let fingerprint: Int
        /// The product's title that customers see. If it is nil, sentences say "your purchase" or "your subscription".
        public let title: Title?
        /// How long a non-renewing purchase of the product lasts. Nil for other types, and if the policy doesn't say.
        public let length: CalendarPeriod?

        /// - Parameter length: how long a non-renewing purchase lasts. If nil, its end is unknown (rule F3).
        public init(id: String, title: Title? = nil, length: CalendarPeriod? = nil) {
            self.id = id
            fingerprint = id.hashValue
            self.title = title
            self.length = length
        }
    }

    /// The key in the policy. Apps pass it to the client library's `allows`.
    public let name: String
    /// The title that customers see. If it is nil, sentences use the name.
    public let title: Title?
    /// The products that grant the entitlement. Empty if only eras grant it.
    public let products: [Product]
    /// The eras that give their customers the entitlement, with limits. Nil if the entitlement doesn't depend on eras
    /// (rule D6).
    public let honors: [Honor]?
    /// How customers without the entitlement may try it. Nil if there is no trial.
    public let trial: Trial?

    /// The indexes of the honored eras in the policy. Empty before `resolved(eraNames:)`.
    private(set) var honoredEras = EraSet()
    /// The indexes of the eras with at least one unlimited honor (`Honor.isUnlimited`).
    private(set) var unlimitedEras = EraSet()

    /// - Parameters:
    ///   - name: not empty, and unique in the policy.
    ///   - honors: nil if no era gives this entitlement (rule D6).
    public init(
        name: String, title: Title? = nil, products: [Product] = [], honors: [Honor]? = nil, trial: Trial? = nil
    ) {
        self.name = name
        self.title = title
        self.products = products
        self.honors = honors
        self.trial = trial
    }

    /// Returns the entitlement with the indexes of its honored eras. Skips honors of unknown eras, which `Policy`
    /// reports as mistakes.
    func resolved(eraNames: [String]) -> Entitlement {
        var result = self
        for honor in honors ?? [] {
            guard let index = eraNames.firstIndex(of: honor.era) else { continue }
            result.honoredEras.insert(index)
            if honor.isUnlimited { result.unlimitedEras.insert(index) }
        }
        return result
    }
}

/// A rule that customers who acquired the app in an era have the entitlement, possibly with limits. A limit that is nil
/// doesn't apply.
public struct Honor: Sendable, Hashable {
    /// The name of the honored era.
    public let era: String
    /// The earliest purchase date, inclusive. A day begins at 00:00 in UTC+14 (rule D5).
    public let boughtSince: Date?
    /// The end of the purchase dates, exclusive. A day begins at 00:00 in UTC-12 (rule D5).
    public let boughtBefore: Date?
    /// How long the right lasts, counted from the beginning of the next era (rule D3).
    public let length: CalendarPeriod?
    /// When the right ends, exclusive. A day ends at 24:00 in UTC-12 (rule D5).
    public let until: Date?

    /// - Parameters:
    ///   - era: the name of an era of the same policy.
    ///   - length: how long the right lasts. If `until` is also set, the right ends at the earlier of the two ends.
    public init(
        era: String, boughtSince: Date? = nil, boughtBefore: Date? = nil, length: CalendarPeriod? = nil,
        until: Date? = nil
    ) {
        self.era = era
        self.boughtSince = boughtSince
        self.boughtBefore = boughtBefore
        self.length = length
        self.until = until
    }

    /// Returns an honor of another era with the same limits.
    package func replacingEra(with era: String) -> Honor {
        Honor(era: era, boughtSince: boughtSince, boughtBefore: boughtBefore, length: length, until: until)
    }

    /// Whether everyone who acquired the app in the era has the entitlement permanently.
    package var isUnlimited: Bool { boughtSince == nil && boughtBefore == nil && length == nil && until == nil }
}

/// How customers without an entitlement may try it.
public enum Trial: Sendable, Hashable {
    /// Up to this number of sessions.
    case sessions(Int)
    /// This number of days, from the first session.
    case days(Int)

    /// The longest session of a trial, in seconds. Without this limit, one session that never ends would be an endless
    /// trial.
    package static let maximumSessionDuration: TimeInterval = 86_400
}
