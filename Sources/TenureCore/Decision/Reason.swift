public import Foundation

/// A reason for a decision: a stable code with its facts. `Decision.sentence` gives the reasons as text.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The code and its facts, in the compact form that the rules use.
    let finding: Finding
    /// The values to which `finding` refers by index.
    let context: Context

    /// The values to which a decision's findings refer by index.
    final class Context: Sendable {
        let policy: Policy
        let environment: AppStoreEnvironment
        let purchases: [Purchase]
        /// The acquisitions that the decision is about: the customer's, or the persona's.
        let acquisitions: [Acquisition]
        /// The name of the persona, a test customer that may replace the real customer. Empty without a persona.
        let personaName: String

        init(_ evidence: Evidence, evaluated acquisitions: [Acquisition], under policy: Policy) {
            self.policy = policy
            self.acquisitions = acquisitions
            environment = evidence.environment
            purchases = evidence.purchases
            personaName = evidence.persona?.name ?? ""
        }

        func productID(_ index: PurchaseIndex) -> String {
            purchases.indices.contains(index) ? purchases[index].productID : ""
        }

        func purchase(_ index: PurchaseIndex) -> Purchase? {
            purchases.indices.contains(index) ? purchases[index] : nil
        }

        func acquisition(_ index: AcquisitionIndex) -> Acquisition? {
            acquisitions.indices.contains(index) ? acquisitions[index] : nil
        }
    }

    /// Whether this reason and the other are the same finding of the same decision. The comparison is faster than `==`,
    /// but it may be false for equal reasons.
    package func isSame(as other: Reason) -> Bool { context === other.context && finding == other.finding }

    /// The codes of all reasons. Docs/decisions.md explains each code.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case eraHonored, eraNotHonored, inDoubt, noHonors, nothingToCompare, noAcquisition, outsideWindow
        case windowNeedsDate, honorEnded, endUnknown, appRefunded, boughtAgain, boughtAgainInDoubt, licenseEnded
        case product, familyShared, gracePeriod, billingRetry, expired, refunded, upgraded, consumable, noLength
        case unknownProductType, noPurchase, purchasesIncomplete, supportGrant, supportGrantEnded, supportRevocation
        case promise, promiseEnded, version, versionMissing, versionMalformed, versionNotListed, versionNotComparable
        case platformNotInPolicy, date, dateMissing, changeover, dateBeforeVersion, versionAuthoritative
        case contradiction, preorder, testEnvironment, persona, personaRefused
    }

    /// A stable code such as `eraHonored`, which programs may compare.
    public var code: String { finding.code.rawValue }

    /// The code as an enum, which the compiler can check.
    package var codeValue: Code { finding.code }

    /// The facts by name, in the order of all outputs.
    public var facts: [(name: String, fact: Fact)] {
        var facts: [(name: String, fact: Fact)] = []
        forEachFact { facts.append(($0, $1)) }
        return facts
    }

    /// A value in a reason, such as the date in `expired(product, at: date)`.
    public enum Fact: Sendable, Hashable {
        /// An era, a product, a version, a platform, an environment or a persona.
        case text(String)
        /// The instant of an event, such as a refund or the end of a period.
        case date(Date)
        /// Names of eras, in the order of the policy.
        case names([String])
    }

    /// Passes each fact with its name to `body`. No other code lists the facts of each code.
    package func forEachFact(_ body: (_ name: String, _ fact: Fact) -> Void) {
        switch finding {
        case .eraHonored(let eras), .eraNotHonored(let eras): body("eras", names(eras))
        case .inDoubt(let honored, let others):
            body("honored", names(honored))
            body("others", names(others))
        case .outsideWindow(let era), .windowNeedsDate(let era), .endUnknown(let era): body("era", name(era))
        case .honorEnded(let era, let date):
            body("era", name(era))
            body("at", .date(date))
        case .appRefunded(let date), .licenseEnded(let date), .supportGrantEnded(let date): body("at", .date(date))
        case .boughtAgain(let date), .boughtAgainInDoubt(let date): body("signed", .date(date))
        case .product(let index, let until):
            body("product", product(index))
            if let until { body("until", .date(until)) }
        case .gracePeriod(let index, let until):
            body("product", product(index))
            body("until", .date(until))
        case .familyShared(let index), .billingRetry(let index), .upgraded(let index), .consumable(let index),
            .noLength(let index), .unknownProductType(let index):
            body("product", product(index))
        case .expired(let index, let date), .refunded(let index, let date):
            body("product", product(index))
            body("at", .date(date))
        case .supportGrant(let until), .promise(let until):
            if let until { body("until", .date(until)) }
        case .version(let index, let eras):
            body("version", version(index))
            if let platform = context.acquisition(index)?.originalPlatform {
                body("platform", .text(platform.rawValue))
            }
            body("eras", names(eras))
        case .versionMalformed(let index), .versionNotListed(let index), .versionNotComparable(let index):
            body("version", version(index))
        case .platformNotInPolicy(let platform): body("platform", .text(platform.rawValue))
        case .date(let date, let eras), .changeover(let date, let eras):
            body("date", .date(date))
            body("eras", names(eras))
        case .preorder(let date): body("date", .date(date))
        case .testEnvironment: body("environment", .text(context.environment.rawValue))
        case .persona, .personaRefused: body("persona", .text(context.personaName))
        case .noHonors, .nothingToCompare, .noAcquisition, .noPurchase, .purchasesIncomplete, .supportRevocation,
            .promiseEnded, .versionMissing, .dateMissing, .dateBeforeVersion, .versionAuthoritative, .contradiction:
            break
        }
    }

    private func name(_ era: Int) -> Fact { .text(context.policy.name(ofEra: era)) }

    private func names(_ eras: EraSet) -> Fact { .names(eras.map(context.policy.name(ofEra:))) }

    private func product(_ index: PurchaseIndex) -> Fact { .text(context.productID(index)) }

    private func version(_ index: AcquisitionIndex) -> Fact {
        .text(context.acquisition(index)?.originalAppVersion ?? "")
    }

    /// The code with its facts, for logs.
    public var description: String {
        let facts = facts.map { "\($0.name): \($0.fact)" }
        return facts.isEmpty ? code : "\(code)(\(facts.joined(separator: ", ")))"
    }

    /// Compares codes and facts, so reasons of different customers may be equal.
    public static func == (left: Reason, right: Reason) -> Bool {
        left.codeValue == right.codeValue && left.facts.elementsEqual(right.facts) { $0 == $1 }
    }

    /// Hashes only the code, which is faster than hashing the facts.
    public func hash(into hasher: inout Hasher) { hasher.combine(codeValue) }
}

extension Finding {
    /// The code of each finding.
    fileprivate var code: Reason.Code {
        switch self {
        case .eraHonored: .eraHonored
        case .eraNotHonored: .eraNotHonored
        case .inDoubt: .inDoubt
        case .noHonors: .noHonors
        case .nothingToCompare: .nothingToCompare
        case .noAcquisition: .noAcquisition
        case .outsideWindow: .outsideWindow
        case .windowNeedsDate: .windowNeedsDate
        case .honorEnded: .honorEnded
        case .endUnknown: .endUnknown
        case .appRefunded: .appRefunded
        case .boughtAgain: .boughtAgain
        case .boughtAgainInDoubt: .boughtAgainInDoubt
        case .licenseEnded: .licenseEnded
        case .product: .product
        case .familyShared: .familyShared
        case .gracePeriod: .gracePeriod
        case .billingRetry: .billingRetry
        case .expired: .expired
        case .refunded: .refunded
        case .upgraded: .upgraded
        case .consumable: .consumable
        case .noLength: .noLength
        case .unknownProductType: .unknownProductType
        case .noPurchase: .noPurchase
        case .purchasesIncomplete: .purchasesIncomplete
        case .supportGrant: .supportGrant
        case .supportGrantEnded: .supportGrantEnded
        case .supportRevocation: .supportRevocation
        case .promise: .promise
        case .promiseEnded: .promiseEnded
        case .version: .version
        case .versionMissing: .versionMissing
        case .versionMalformed: .versionMalformed
        case .versionNotListed: .versionNotListed
        case .versionNotComparable: .versionNotComparable
        case .platformNotInPolicy: .platformNotInPolicy
        case .date: .date
        case .dateMissing: .dateMissing
        case .changeover: .changeover
        case .dateBeforeVersion: .dateBeforeVersion
        case .versionAuthoritative: .versionAuthoritative
        case .contradiction: .contradiction
        case .preorder: .preorder
        case .testEnvironment: .testEnvironment
        case .persona: .persona
        case .personaRefused: .personaRefused
        }
    }
}

/// A reason for a decision as the rules use it. A finding has only numbers, indexes and dates, so that comparing
/// findings is fast. `Reason` adds the names.
///
/// An *honor* is an era that an entitlement lists under `honors`, with its limits.
enum Finding: Sendable, Hashable {
    // Findings about the sources of an entitlement.
    /// Every era in which the app can have been acquired honors the entitlement.
    case eraHonored(EraSet)
    /// No era in which the app can have been acquired honors the entitlement.
    case eraNotHonored(EraSet)
    /// Some possible eras honor the entitlement and some don't, so the policy's `inDoubt` decided.
    case inDoubt(honored: EraSet, others: EraSet)
    /// The entitlement honors no era, so the app's acquisition can't grant it.
    case noHonors
    /// The evidence has no version or date that can be compared with the beginning of an era.
    case nothingToCompare
    /// No artifact proves how the app was acquired.
    case noAcquisition
    /// The app was bought in an honored era, but outside the purchase dates of the honor.
    case outsideWindow(era: Int)
    /// The honor is limited to a range of purchase dates, and the evidence has no purchase date.
    case windowNeedsDate(era: Int)
    /// The honor has ended.
    case honorEnded(era: Int, at: Date)
    /// The honor lasts for a length of time after the end of the era, and the policy has no date for that end.
    case endUnknown(era: Int)
    /// The app was refunded or revoked, which ended the right of an era.
    case appRefunded(at: Date)
    /// An app transaction signed after a refund proves a new purchase in an honored era.
    case boughtAgain(signed: Date)
    /// An app transaction signed after a refund may be of a new purchase in an honored era.
    case boughtAgainInDoubt(signed: Date)
    /// The license of a volume purchase of the app ended.
    case licenseEnded(at: Date)
    /// A valid purchase of one of the entitlement's products.
    case product(PurchaseIndex, until: Date?)
    /// A family member shares the purchase that grants the entitlement.
    case familyShared(PurchaseIndex)
    /// An expired subscription that grants the entitlement during Apple's billing grace period.
    case gracePeriod(PurchaseIndex, until: Date)
    /// An expired subscription for which Apple still tries to charge.
    case billingRetry(PurchaseIndex)
    /// A subscription or non-renewing purchase that has ended.
    case expired(PurchaseIndex, at: Date)
    /// A purchase that was refunded, or revoked from Family Sharing.
    case refunded(PurchaseIndex, at: Date)
    /// A subscription that was replaced by an upgrade.
    case upgraded(PurchaseIndex)
    /// A consumable, which grants nothing.
    case consumable(PurchaseIndex)
    /// A purchase without a known end: a non-renewing purchase without a length in the policy or without a purchase
    /// date, or a subscription without an expiration date.
    case noLength(PurchaseIndex)
    /// A purchase of a product type that this version of Tenure doesn't know.
    case unknownProductType(PurchaseIndex)
    /// All purchases are known, and no purchase is of one of the entitlement's products.
    case noPurchase
    /// Not all purchases of the customer are known.
    case purchasesIncomplete
    /// Support gave the entitlement.
    case supportGrant(until: Date?)
    /// Support gave the entitlement until this date, which has passed.
    case supportGrantEnded(at: Date)
    /// Support took the entitlement away.
    case supportRevocation
    /// A promise, which records a right that an era gave, gives the entitlement.
    case promise(until: Date?)
    /// Newer signed facts about the acquisition ended a promise.
    case promiseEnded

    // Findings about the proofs, and the eras that the proofs allow.
    /// The original version, and the eras in which it can have been acquired.
    case version(AcquisitionIndex, eras: EraSet)
    /// No artifact has an original version.
    case versionMissing
    /// The original version isn't a dotted number.
    case versionMalformed(AcquisitionIndex)
    /// The release list doesn't have the original version.
    case versionNotListed(AcquisitionIndex)
    /// The original version can't be compared with the beginning of an era. For example, the policy has neither a
    /// release list nor `buildNumbers: increasing`.
    case versionNotComparable(AcquisitionIndex)
    /// The policy has neither an era's beginning nor a release on the platform in the customer's artifact.
    case platformNotInPolicy(Platform)
    /// The purchase date, and the eras that contain it.
    case date(Date, eras: EraSet)
    /// No artifact has a purchase date.
    case dateMissing
    /// The purchase date is inside a changeover window (the time around a change of the business model), so all of
    /// these eras are possible.
    case changeover(Date, eras: EraSet)
    /// Date and version prove different eras, and the date's eras are earlier. The date decides (rule C1 of
    /// Docs/decision-rules.md).
    case dateBeforeVersion
    /// Date and version prove different eras, and the version decides (rule C2).
    case versionAuthoritative
    /// Date and version prove different eras, and neither proof overrides the other. The eras of both proofs are
    /// possible. But if the eras of neither proof are all earlier than those of the other, only the date's eras are
    /// possible (rule C1).
    case contradiction
    /// The app was preordered, which proves no era.
    case preorder(Date)
    /// The policy's `testEnvironments` decided whether eras grant the entitlement in Sandbox or Xcode.
    case testEnvironment
    /// A persona (a test customer) replaced the real customer.
    case persona
    /// A persona was ignored, because the evidence is of production or empty.
    case personaRefused

    /// Whether a purchase of a product grants the entitlement.
    var isOfProduct: Bool {
        switch self {
        case .product, .gracePeriod: true
        default: false
        }
    }
}

/// The index of a purchase in the evidence.
typealias PurchaseIndex = Int
/// The index of an acquisition in `Reason.Context`.
typealias AcquisitionIndex = Int
