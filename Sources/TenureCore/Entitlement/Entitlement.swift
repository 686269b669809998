public import Foundation

/// Something that a customer may use, and what gives it.
public struct Entitlement: Sendable, Hashable {
    public struct Product: Sendable, Hashable {
        public let id: String
        /// Equal ids have equal ones: most ids are told apart by it alone.
        let fingerprint: Int
        /// What customers call it. Nil: "your purchase" or "your subscription".
        public let title: Title?
        /// How long a non-renewing purchase of it runs.
        public let length: CalendarPeriod?

        public init(id: String, title: Title? = nil, length: CalendarPeriod? = nil) {
            self.id = id
            fingerprint = id.hashValue
            self.title = title
            self.length = length
        }
    }

    public let name: String
    /// What customers call it. Nil: its name.
    public let title: Title?
    public let products: [Product]
    /// What having acquired the app in an era gives. Nil: eras are no source of this entitlement.
    public let honors: [Honor]?
    public let trial: Trial?

    /// The eras that some honor names.
    package private(set) var honoredEras = EraSet()
    /// Those of them that some honor names without a limit.
    package private(set) var unlimitedEras = EraSet()

    public init(
        name: String, title: Title? = nil, products: [Product] = [], honors: [Honor]? = nil, trial: Trial? = nil
    ) {
        self.name = name
        self.title = title
        self.products = products
        self.honors = honors
        self.trial = trial
    }

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

/// That those who acquired the app in an era have an entitlement, perhaps only some of them, perhaps for a time.
public struct Honor: Sendable, Hashable {
    public let era: String
    /// Inclusive. Of a day, the instant at which it begins first anywhere.
    public let boughtSince: Date?
    /// Exclusive. Of a day, the instant at which it begins last anywhere.
    public let boughtBefore: Date?
    /// Counted from the dated beginning of the next era.
    public let length: CalendarPeriod?
    /// Exclusive. Of a day, the instant at which it ends last anywhere.
    public let until: Date?

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

    /// Whether everybody who acquired the app in the era has it for good.
    package var isUnlimited: Bool {
        boughtSince == nil && boughtBefore == nil && length == nil && until == nil
    }
}

/// How others may try an entitlement.
public enum Trial: Sendable, Hashable {
    case sessions(Int)
    case days(Int)

    /// Seconds. A session is one sitting: an app that repeats one for ever is not trying any more.
    package static let longestSession: TimeInterval = 86_400
}
