import Foundation

/// A fact that made a decision, as the rules hand it to each other: numbers, places and dates only, so that weighing
/// facts costs nothing. `Reason` puts names to it.
enum Finding: Sendable, Hashable {
    // What gave or did not give.
    /// Every era in which the app can have been acquired honors the entitlement.
    case eraHonored(EraSet)
    /// No era in which the app can have been acquired honors the entitlement.
    case eraNotHonored(EraSet)
    /// Some eras honor it and some do not, and `inDoubt` decided.
    case inDoubt(honored: EraSet, others: EraSet)
    /// The entitlement honors no era: how the app was acquired is no source of it.
    case noHonors
    /// The evidence meets no boundary of the policy.
    case nothingToCompare
    /// No artifact says how the app was acquired.
    case noAcquisition
    /// Bought in an honored era, but outside the dates that the honor asks for.
    case outsideWindow(era: Int)
    case windowNeedsDate(era: Int)
    case honorEnded(era: Int, at: Date)
    /// The honor is for a length of time, and the era's end has no instant to count from.
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

    // What the proofs say.
    case version(AcquisitionIndex, eras: EraSet)
    case versionMissing
    case versionMalformed(AcquisitionIndex)
    case versionNotListed(AcquisitionIndex)
    /// Build numbers began again, or nobody said that they did not.
    case versionNotComparable(AcquisitionIndex)
    case platformNotInPolicy(Platform)
    case date(Date, eras: EraSet)
    case dateMissing
    case changeover(Date, eras: EraSet)
    /// Proofs contradict: nobody has an early date without an early acquisition.
    case dateBeforeVersion
    /// Proofs contradict, and the version is the one to believe.
    case versionAuthoritative
    /// Proofs contradict, and neither is the one to believe.
    case contradiction
    case preorder(Date)
    case testEnvironment
    case persona
    case personaRefused
}

/// The place of a purchase in the evidence.
typealias PurchaseIndex = Int
/// The place of an acquisition among those that were judged.
typealias AcquisitionIndex = Int
