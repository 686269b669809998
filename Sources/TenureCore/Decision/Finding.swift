import Foundation

/// A reason for a decision as the rules use it. A finding has only numbers, indexes and dates, so that comparing
/// findings is fast. `Reason` adds the names.
///
/// An *era* is a period with one business model. An *honor* is an era that an entitlement lists under `honors`, with
/// its limits.
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

extension Finding {
    /// The code of each finding.
    var code: Reason.Code {
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

/// The index of a purchase in the evidence.
typealias PurchaseIndex = Int
/// The index of an acquisition in `Reason.Context`.
typealias AcquisitionIndex = Int
