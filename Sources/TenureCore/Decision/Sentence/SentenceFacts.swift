import Foundation

/// The facts that a sentence uses, taken from a decision's reasons and policy.
struct SentenceFacts {
    /// The title of the entitlement that customers see.
    let title: String
    /// The entitlement in the policy. Nil if the entitlement is only in a promise.
    let entitlement: Entitlement?
    private let policy: Policy
    private let languages: [String]

    /// The original version, its key in the policy (`build` or `version`), and the eras that the version proves.
    private var version: (text: String, key: String, eras: EraSet)?
    /// The purchase date, and the eras that contain it.
    private var date: (date: Date, eras: EraSet)?
    /// The possible eras of a purchase date inside a changeover window (the time around a change of the business
    /// model). Nil if the date isn't inside one.
    private var changeoverEras: EraSet?
    /// The date of the customer's preorder. Nil if no reason contains this date.
    private(set) var preorder: Date?
    /// Whether the decision is about a test customer (see `Persona`).
    private(set) var isPersona = false
    /// Whether a family member shares the purchase that grants the entitlement.
    private(set) var isFamilyShared = false

    init(of decision: Decision, in languages: [String]) {
        let context = decision.context
        policy = context.policy
        self.languages = languages
        entitlement = context.policy.entitlement(named: decision.entitlement)
        title = decision.title?.text(for: languages) ?? decision.entitlement
        for finding in decision.findings {
            switch finding {
            case .version(let index, let eras):
                guard let acquisition = context.acquisition(index), let text = acquisition.version?.description,
                    text.utf8.count <= Self.maximumVersionLength
                else { continue }
                version = (text, acquisition.originalPlatform?.versionKey.rawValue ?? "version", eras)
            case .date(let date, let eras): self.date = (date, eras)
            case .changeover(_, let eras): changeoverEras = eras
            case .preorder(let date): preorder = date
            case .persona: isPersona = true
            case .familyShared: isFamilyShared = true
            default: break
            }
        }
    }

    /// The maximum length of a version in a sentence, in characters. Longer versions are left out.
    private static let maximumVersionLength = 24

    // MARK: Proofs

    /// Whether the purchase date is inside a changeover window.
    var isChangeover: Bool { changeoverEras != nil }

    /// Whether the reasons contain a purchase date.
    var hasDate: Bool { date != nil }

    /// The eras that the date allows, together with `changeoverEras`. Nil if the reasons contain no date.
    private var erasOfDate: EraSet? { date.map { $0.eras.union(changeoverEras ?? EraSet()) } }

    /// The date on which the app was acquired. Nil if the date is unknown or excludes all of `eras`. If `eras` is nil,
    /// only an unknown date gives nil.
    func date(allowing eras: EraSet?) -> Date? {
        guard let date, let erasOfDate else { return nil }
        if let eras, eras.isDisjoint(with: erasOfDate) { return nil }
        return date.date
    }

    /// The version in which the app was acquired, and its key in the policy. Nil in the same cases as the date.
    func version(allowing eras: EraSet?) -> (text: String, key: String)? {
        guard let version else { return nil }
        if let eras, eras.isDisjoint(with: version.eras) { return nil }
        return (version.text, version.key)
    }

    /// Whether the proofs allow only this era. False if there is no purchase date.
    func proves(era: Int) -> Bool {
        guard let erasOfDate else { return false }
        return (version.map { $0.eras.intersection(erasOfDate) } ?? erasOfDate) == EraSet(from: era, to: era + 1)
    }

    // MARK: Policy

    /// Whether a product grants the entitlement.
    var isSold: Bool { entitlement?.products.isEmpty == false }

    var hasTrial: Bool { entitlement?.trial != nil }

    /// Whether a family member's acquisition of the app could give the entitlement.
    var honorsEras: Bool { entitlement?.honoredEras.isEmpty == false }

    /// Whether the app had this business model in all of the eras. False if there are no eras.
    func wasAlways(_ model: Era.Model, in eras: EraSet) -> Bool {
        !eras.isEmpty && eras.allSatisfy { policy.eras.indices.contains($0) && policy.eras[$0].model == model }
    }

    /// A product's title in this entitlement, otherwise in another entitlement.
    func title(ofProduct id: String) -> String? {
        let own = entitlement?.products.first { $0.id == id }?.title
        let title = own ?? policy.entitlements.lazy.flatMap(\.products).first { $0.id == id && $0.title != nil }?.title
        return title?.text(for: languages)
    }

    /// The titles of the products that grant the entitlement. Nil if a product has no title, or for more than two
    /// products.
    var titlesOfProducts: [String]? {
        guard let products = entitlement?.products, (1...2).contains(products.count) else { return nil }
        let titles = products.compactMap { title(ofProduct: $0.id) }
        return titles.count == products.count ? titles : nil
    }

    /// Returns the first and the last day on which the app had to be acquired for the era's honor.
    ///
    /// Returns nil if the purchase date is unknown, or if the era has several honors or no such days. Also returns nil
    /// if the customer's day is one of these days, because then the time of day decided.
    func window(ofHonoring era: Int) -> (first: CivilDay?, last: CivilDay?)? {
        guard policy.eras.indices.contains(era), let day = date.map({ CivilDay(of: $0.date) }) else { return nil }
        let honors = (entitlement?.honors ?? []).filter { $0.era == policy.eras[era].name }
        guard honors.count == 1, let honor = honors.first else { return nil }
        let (first, last) = (honor.firstDay, honor.lastDay)
        guard first.map({ day < $0 }) == true || last.map({ $0 < day }) == true else { return nil }
        return (first, last)
    }

    /// Whether the end of a right from an era may be a day in the policy. Such a right includes the whole day in every
    /// time zone.
    var hasLastDays: Bool { entitlement?.honors?.contains { $0.until != nil } == true }
}

extension Honor {
    /// The first day on which the app had to be acquired.
    ///
    /// A day in the policy begins at 10:00 UTC of the day before, when it begins in UTC+14.
    fileprivate var firstDay: CivilDay? {
        boughtSince.map { CivilDay(of: $0.secondsOfDay == 36_000 ? $0.addingTimeInterval(14 * 3600) : $0) }
    }

    /// The last day on which the app had to be acquired.
    ///
    /// `boughtBefore` excludes its day. A day in the policy begins last in UTC-12, at noon UTC.
    fileprivate var lastDay: CivilDay? {
        boughtBefore.map { CivilDay(of: $0.addingTimeInterval($0.secondsOfDay == 43_200 ? -12 * 3600 - 1 : -1)) }
    }
}
