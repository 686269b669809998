import TenureCore

/// The binary format of `CustomerFacts`, for its writer and its reader.
///
/// A version comes first, then flags, then the lists of proofs, purchases, renewals, promises and support grants, each
/// after its length. Each entry of a list begins with flags that tell which of its fields follow; the reader and the
/// writer have the order of the fields.
///
/// | type | encoding |
/// |---|---|
/// | number | little-endian base 128 (LEB128) |
/// | text | UTF-8 after its length |
/// | instant | the bits of a Double, seconds since 2001, so that no precision is lost |
enum FactsFormat {
    static let version: UInt8 = 1

    /// The flags after the version.
    struct Flags: OptionSet {
        let rawValue: UInt64

        static let purchasesAreComplete = Flags(rawValue: 1)
        static let isUnbound = Flags(rawValue: 1 << 1)
    }

    // Each of the following types has the flags of the entries in one list: which fields an entry has, and its Boolean
    // fields.

    struct ProofFlags: OptionSet {
        let rawValue: UInt64

        static let signedDate = ProofFlags(rawValue: 1)
        static let appTransactionID = ProofFlags(rawValue: 1 << 1)
        static let downloadID = ProofFlags(rawValue: 1 << 2)
        static let platform = ProofFlags(rawValue: 1 << 3)
        static let version = ProofFlags(rawValue: 1 << 4)
        static let purchaseDate = ProofFlags(rawValue: 1 << 5)
        static let preorderDate = ProofFlags(rawValue: 1 << 6)
        static let revocationDate = ProofFlags(rawValue: 1 << 7)
        static let expirationDate = ProofFlags(rawValue: 1 << 8)
    }

    struct PurchaseFlags: OptionSet {
        let rawValue: UInt64

        static let originalTransactionID = PurchaseFlags(rawValue: 1)
        static let type = PurchaseFlags(rawValue: 1 << 1)
        static let purchaseDate = PurchaseFlags(rawValue: 1 << 2)
        static let expiresDate = PurchaseFlags(rawValue: 1 << 3)
        static let revocationDate = PurchaseFlags(rawValue: 1 << 4)
        static let signedDate = PurchaseFlags(rawValue: 1 << 5)
        static let isUpgraded = PurchaseFlags(rawValue: 1 << 6)
        static let isFamilyShared = PurchaseFlags(rawValue: 1 << 7)
    }

    struct RenewalFlags: OptionSet {
        let rawValue: UInt64

        static let productID = RenewalFlags(rawValue: 1)
        static let gracePeriodExpiresDate = RenewalFlags(rawValue: 1 << 1)
        static let isInBillingRetryPeriod = RenewalFlags(rawValue: 1 << 2)
        static let signedDate = RenewalFlags(rawValue: 1 << 3)
    }

    struct PromiseFlags: OptionSet {
        let rawValue: UInt64

        static let appTransactionID = PromiseFlags(rawValue: 1)
        static let downloadID = PromiseFlags(rawValue: 1 << 1)
        static let purchaseDate = PromiseFlags(rawValue: 1 << 2)
        static let until = PromiseFlags(rawValue: 1 << 3)
    }

    struct SupportFlags: OptionSet {
        let rawValue: UInt64

        static let isRevocation = SupportFlags(rawValue: 1)
        static let until = SupportFlags(rawValue: 1 << 1)
    }

    // The numbers that encode the cases of enums. Never reuse a number.
    static let proofKinds: [(AppProof.Kind, UInt8)] = [(.appTransaction, 1), (.serverAppTransaction, 2), (.receipt, 3)]
    static let platforms: [(Platform, UInt8)] = [(.iOS, 1), (.macOS, 2), (.tvOS, 3), (.watchOS, 4), (.visionOS, 5)]
    static let productTypes: [(Purchase.ProductType, UInt8)] = [
        (.nonConsumable, 1), (.consumable, 2), (.nonRenewing, 3), (.autoRenewable, 4),
    ]
    /// The number for a type of product that this release doesn't know. The type's name follows.
    static let unknownProductType: UInt8 = 0
}
