import Foundation

/// A reason for a decision as the rules use it. It has only numbers, indexes and dates, so that comparing findings is
/// fast. `Reason` adds the names.
enum Finding: Sendable, Hashable {
    // The sources that grant the entitlement or don't.
    /// Every era in which the app can have been acquired honors the entitlement.
    case eraHonored(EraSet)
    /// No era in which the app can have been acquired honors the entitlement.
    case eraNotHonored(EraSet)
    /// Some possible eras honor the entitlement and some don't, so the policy's `inDoubt` decided.
    case inDoubt(honored: EraSet, others: EraSet)
    /// The entitlement honors no era, so the app's acquisition can't grant it.
    case noHonors
    /// The evidence has no version or date that can be compared with a boundary of the policy.
    case nothingToCompare
    /// No artifact proves how the app was acquired.
    case noAcquisition
    /// Bought in an honored era, but outside the honor's dates.
    case outsideWindow(era: Int)
    case windowNeedsDate(era: Int)
    case honorEnded(era: Int, at: Date)
    /// The honor lasts for a length of time after the end of the era, and the policy has no date for that end.
    case endUnknown(era: Int)
    case appRefunded(at: Date)
    case boughtAgain(signed: Date)
    case boughtAgainInDoubt(signed: Date)
    case licenseEnded(at: Date)
    case product(PurchaseIndex, until: Date?)
    case familyShared(PurchaseIndex)
    case gracePeriod(PurchaseIndex, until: Date)
    case billingRetry(PurchaseIndex)
    case expired(PurchaseIndex, at: Date)
    case refunded(PurchaseIndex, at: Date)
    case upgraded(PurchaseIndex)
    case consumable(PurchaseIndex)
    /// A non-renewing product for which the policy gives no length.
    case noLength(PurchaseIndex)
    case unknownProductType(PurchaseIndex)
    case noPurchase
    case purchasesIncomplete
    case supportGrant(until: Date?)
    case supportGrantEnded(at: Date)
    case supportRevocation
    case promise(until: Date?)
    /// Newer signed facts about the acquisition ended a promise.
    case promiseEnded

    // The proofs, and the eras that they allow.
    case version(AcquisitionIndex, eras: EraSet)
    case versionMissing
    case versionMalformed(AcquisitionIndex)
    case versionNotListed(AcquisitionIndex)
    /// The policy has neither a release list nor `buildNumbers: increasing`.
    case versionNotComparable(AcquisitionIndex)
    case platformNotInPolicy(Platform)
    case date(Date, eras: EraSet)
    case dateMissing
    case changeover(Date, eras: EraSet)
    /// Date and version prove different eras, and the date's are earlier. The date decides (Rule C1).
    case dateBeforeVersion
    /// Date and version prove different eras, and the version decides (Rule C2).
    case versionAuthoritative
    /// Date and version prove different eras, and neither proof settles it: both proofs' eras are possible, or the
    /// date's if the eras are mixed (Rule C1).
    case contradiction
    case preorder(Date)
    case testEnvironment
    case persona
    case personaRefused
}

/// The index of a purchase in the evidence.
typealias PurchaseIndex = Int
/// The index of an acquisition in `Reason.Context`.
typealias AcquisitionIndex = Int
