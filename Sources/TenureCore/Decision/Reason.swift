public import Foundation

/// A fact that made a decision: a stable code with what it is about.
///
/// `Sentence` turns reasons into words; nothing else does.
public enum Reason: Sendable, Hashable {
    // What gave or did not give.
    /// Every era in which the app can have been acquired honours the entitlement.
    case eraHonoured(EraNames)
    /// No era in which the app can have been acquired honours the entitlement.
    case eraNotHonoured(EraNames)
    /// Some eras honour it and some do not, and `inDoubt` decided.
    case inDoubt(honoured: EraNames, others: EraNames)
    /// The evidence meets no boundary of the policy.
    case nothingToCompare
    /// No artifact says how the app was acquired.
    case noAcquisition
    /// Bought in an honoured era, but outside the dates that the honour asks for.
    case outsideWindow(era: String)
    case windowNeedsDate(era: String)
    case honourEnded(era: String, at: Date)
    /// The honour is for a length of time, and the era's end has no instant to count from.
    case endUnknown(era: String)
    case appRefunded(at: Date)
    case boughtAgain(signed: Date)
    case boughtAgainInDoubt(signed: Date)
    case licenceEnded(at: Date)
    case product(id: String, until: Date?)
    case familyShared(id: String)
    case gracePeriod(id: String, until: Date)
    case billingRetry(id: String)
    case expired(id: String, at: Date)
    case refunded(id: String, at: Date)
    case upgraded(id: String)
    case consumable(id: String)
    /// A non-renewing product for which the policy gives no length.
    case noLength(id: String)
    case unknownProductType(id: String)
    case noPurchase
    case purchasesIncomplete
    case supportGrant(until: Date?)
    case supportGrantEnded(at: Date)
    case supportRevocation
    case promise(until: Date?)
    /// Newer signed facts about the acquisition ended a promise.
    case promiseEnded

    // What the proofs say.
    case version(String, platform: Platform?, eras: EraNames)
    case versionMissing
    case versionMalformed(String)
    case versionNotListed(String)
    /// Build numbers began again, or nobody said that they did not.
    case versionNotComparable(String)
    case platformNotInPolicy(Platform)
    case date(Date, eras: EraNames)
    case dateMissing
    case changeover(Date, eras: EraNames)
    /// Proofs contradict: nobody has an early date without an early acquisition.
    case dateBeforeVersion
    /// Proofs contradict, and the version is the one to believe.
    case versionAuthoritative
    /// Proofs contradict, and neither is the one to believe.
    case contradiction
    case preorder(Date)
    case testEnvironment(AppStoreEnvironment)
    case persona(String)
    case personaRefused(String)

    /// Stable: programs may compare it.
    public var code: String {
        switch self {
        case .eraHonoured: "eraHonoured"
        case .eraNotHonoured: "eraNotHonoured"
        case .inDoubt: "inDoubt"
        case .nothingToCompare: "nothingToCompare"
        case .noAcquisition: "noAcquisition"
        case .outsideWindow: "outsideWindow"
        case .windowNeedsDate: "windowNeedsDate"
        case .honourEnded: "honourEnded"
        case .endUnknown: "endUnknown"
        case .appRefunded: "appRefunded"
        case .boughtAgain: "boughtAgain"
        case .boughtAgainInDoubt: "boughtAgainInDoubt"
        case .licenceEnded: "licenceEnded"
        case .product: "product"
        case .familyShared: "familyShared"
        case .gracePeriod: "gracePeriod"
        case .billingRetry: "billingRetry"
        case .expired: "expired"
        case .refunded: "refunded"
        case .upgraded: "upgraded"
        case .consumable: "consumable"
        case .noLength: "noLength"
        case .unknownProductType: "unknownProductType"
        case .noPurchase: "noPurchase"
        case .purchasesIncomplete: "purchasesIncomplete"
        case .supportGrant: "supportGrant"
        case .supportGrantEnded: "supportGrantEnded"
        case .supportRevocation: "supportRevocation"
        case .promise: "promise"
        case .promiseEnded: "promiseEnded"
        case .version: "version"
        case .versionMissing: "versionMissing"
        case .versionMalformed: "versionMalformed"
        case .versionNotListed: "versionNotListed"
        case .versionNotComparable: "versionNotComparable"
        case .platformNotInPolicy: "platformNotInPolicy"
        case .date: "date"
        case .dateMissing: "dateMissing"
        case .changeover: "changeover"
        case .dateBeforeVersion: "dateBeforeVersion"
        case .versionAuthoritative: "versionAuthoritative"
        case .contradiction: "contradiction"
        case .preorder: "preorder"
        case .testEnvironment: "testEnvironment"
        case .persona: "persona"
        case .personaRefused: "personaRefused"
        }
    }
}

extension Reason {
    /// One fact beside a reason's code.
    public enum Fact: Sendable, Hashable {
        case text(String)
        case date(Date)
        case names([String])
    }

    /// The facts by name, in the order in which they are shown.
    public var facts: [(name: String, fact: Fact)] {
        switch self {
        case .eraHonoured(let eras), .eraNotHonoured(let eras): [("eras", .names(eras.names))]
        case .inDoubt(let honoured, let others):
            [("honoured", .names(honoured.names)), ("others", .names(others.names))]
        case .outsideWindow(let era), .windowNeedsDate(let era), .endUnknown(let era): [("era", .text(era))]
        case .honourEnded(let era, let date): [("era", .text(era)), ("at", .date(date))]
        case .appRefunded(let date), .licenceEnded(let date), .supportGrantEnded(let date): [("at", .date(date))]
        case .boughtAgain(let date), .boughtAgainInDoubt(let date): [("signed", .date(date))]
        case .product(let id, let until): [("product", .text(id))] + (until.map { [("until", .date($0))] } ?? [])
        case .gracePeriod(let id, let until): [("product", .text(id)), ("until", .date(until))]
        case .expired(let id, let date), .refunded(let id, let date): [("product", .text(id)), ("at", .date(date))]
        case .familyShared(let id), .billingRetry(let id), .upgraded(let id), .consumable(let id), .noLength(let id),
            .unknownProductType(let id):
            [("product", .text(id))]
        case .supportGrant(let until), .promise(let until): until.map { [("until", .date($0))] } ?? []
        case .version(let version, let platform, let eras):
            [("version", .text(version))] + (platform.map { [("platform", .text($0.rawValue))] } ?? [])
                + [("eras", .names(eras.names))]
        case .versionMalformed(let version), .versionNotListed(let version), .versionNotComparable(let version):
            [("version", .text(version))]
        case .platformNotInPolicy(let platform): [("platform", .text(platform.rawValue))]
        case .date(let date, let eras), .changeover(let date, let eras):
            [("date", .date(date)), ("eras", .names(eras.names))]
        case .preorder(let date): [("date", .date(date))]
        case .testEnvironment(let environment): [("environment", .text(environment.rawValue))]
        case .persona(let name), .personaRefused(let name): [("persona", .text(name))]
        case .nothingToCompare, .noAcquisition, .noPurchase, .purchasesIncomplete, .supportRevocation, .promiseEnded,
            .versionMissing, .dateMissing, .dateBeforeVersion, .versionAuthoritative, .contradiction:
            []
        }
    }
}

/// Some eras of a policy, oldest first, which carry their names with them.
public struct EraNames: Sendable, Hashable {
    private let eras: EraSet
    private let policyEras: [Era]

    init(_ eras: EraSet, of policy: Policy) {
        self.eras = eras
        policyEras = policy.eras
    }

    public var names: [String] { models.map(\.name) }

    /// Whether every one of them is an era in which the app was sold for a price.
    package var areAllPaid: Bool { models.allSatisfy { $0.model == .paid } }

    private var models: [Era] { eras.compactMap { policyEras.indices.contains($0) ? policyEras[$0] : nil } }

    public static func == (left: EraNames, right: EraNames) -> Bool { left.names == right.names }

    public func hash(into hasher: inout Hasher) { hasher.combine(names) }
}
