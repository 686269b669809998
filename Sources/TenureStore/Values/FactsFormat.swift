import TenureCore

/// The binary format of `CustomerFacts`, for its writer and its reader.
///
/// A version comes first, then flags, then the lists of proofs, purchases, renewals, promises and support grants, each
/// after its length. Each entry of a list begins with flags that tell which of its fields follow. `FactsWriter` and
/// `FactsReader` define the order of the fields.
///
/// | type | encoding |
/// |---|---|
/// | number | little-endian base 128 (LEB128) |
/// | text | UTF-8 after its length |
/// | instant | the bits of a Double, seconds since 2001, so that no precision is lost |
enum FactsFormat {
    static let version: UInt8 = 1

    /// The flags of the facts, or of one entry of a list: which fields it has, and its Boolean fields.
    struct Flags<Field: RawRepresentable<UInt64>>: ExpressibleByArrayLiteral {
        private(set) var rawValue: UInt64 = 0

        init(rawValue: UInt64) { self.rawValue = rawValue }
        init(arrayLiteral fields: Field...) { for field in fields { insert(field) } }

        mutating func insert(_ field: Field) { rawValue |= 1 << field.rawValue }
        func contains(_ field: Field) -> Bool { rawValue & (1 << field.rawValue) != 0 }
        func isSubset(of other: Flags) -> Bool { rawValue & ~other.rawValue == 0 }
    }

    // The position of a case is the position of its bit in stored facts. Never move or remove a case, and add cases
    // only at the end.
    enum FactsField: UInt64 { case purchasesAreComplete, isUnbound }
    enum ProofField: UInt64 {
        case signedDate, appTransactionID, downloadID, platform, version, purchaseDate, preorderDate, revocationDate
        case expirationDate
    }
    enum PurchaseField: UInt64 {
        case originalTransactionID, type, purchaseDate, expiresDate, revocationDate, signedDate, isUpgraded
        case isFamilyShared
    }
    enum RenewalField: UInt64 { case productID, gracePeriodExpiresDate, isInBillingRetryPeriod, signedDate }
    enum PromiseField: UInt64 { case appTransactionID, downloadID, purchaseDate, until }
    enum SupportField: UInt64 { case isRevocation, until }

    // The numbers that encode the cases of enums. Never reuse a number.
    static let proofKinds: [(AppProof.Kind, UInt8)] = [(.appTransaction, 1), (.serverAppTransaction, 2), (.receipt, 3)]
    static let platforms: [(Platform, UInt8)] = [(.iOS, 1), (.macOS, 2), (.tvOS, 3), (.watchOS, 4), (.visionOS, 5)]
    static let productTypes: [(Purchase.ProductType, UInt8)] = [
        (.nonConsumable, 1), (.consumable, 2), (.nonRenewing, 3), (.autoRenewable, 4),
    ]
    /// The number for a type of product that this release doesn't know. The type's name follows.
    static let unknownProductType: UInt8 = 0
}
