public import Foundation

/// What one verified artifact proves about the app itself: one app transaction, or the app's part of one receipt.
public struct AppProof: Sendable, Hashable {
    /// What kind of artifact it was: kinds differ in what they can carry.
    public enum Kind: String, Sendable, Hashable {
        case appTransaction
        /// The variant that the App Store Server API gives: bound to no device, and without a revocation date.
        case serverAppTransaction
        case receipt

        /// Whether an artifact of this kind says so when the app was refunded. Only the device's app transaction does.
        package var canCarryRevocation: Bool { self == .appTransaction }

        /// Whether an artifact of this kind carries the end of a volume-purchase license. Only receipts do.
        package var canCarryExpiration: Bool { self == .receipt }
    }

    public let kind: Kind
    /// When the App Store signed it: `receiptCreationDate`, or attribute 12 of a receipt.
    public let signedDate: Date?
    /// Who acquired the app, as far as the artifact names it.
    public let id: AcquisitionID?
    /// The signed `originalPlatform`; nil where the artifact has none or names one that nobody knows.
    public let originalPlatform: Platform?
    /// As signed, not yet read as a version; nil where it is absent or empty.
    public let originalAppVersion: String?
    public let originalPurchaseDate: Date?
    public let preorderDate: Date?
    /// When the purchase of the app was refunded or revoked.
    public let revocationDate: Date?
    /// When a volume-purchase license ends.
    public let expirationDate: Date?

    package init(
        kind: Kind,
        signedDate: Date?,
        id: AcquisitionID? = nil,
        originalPlatform: Platform? = nil,
        originalAppVersion: String? = nil,
        originalPurchaseDate: Date? = nil,
        preorderDate: Date? = nil,
        revocationDate: Date? = nil,
        expirationDate: Date? = nil
    ) {
        self.kind = kind
        self.signedDate = signedDate
        self.id = id
        self.originalPlatform = originalPlatform
        self.originalAppVersion = originalAppVersion.flatMap { $0.isEmpty ? nil : $0 }
        self.originalPurchaseDate = originalPurchaseDate
        self.preorderDate = preorderDate
        self.revocationDate = revocationDate
        self.expirationDate = expirationDate
    }
}

/// Apple's name for one account's getting the app.
public enum AcquisitionID: Sendable, Hashable {
    /// `appTransactionId`: one per Apple Account and app, stable across devices, refunds and repurchases.
    case appTransaction(String)
    /// Attribute 15 of a receipt, `download_id`: the same in every receipt of one purchase of the app.
    case download(String)
}
