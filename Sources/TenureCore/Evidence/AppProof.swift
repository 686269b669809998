public import Foundation

/// The facts that one verified artifact proves about the acquisition of the app. The artifact is an app transaction or
/// a receipt.
public struct AppProof: Sendable, Hashable {
    /// The kind of artifact. Kinds differ in the facts that they can contain.
    public enum Kind: String, Sendable, Hashable {
        /// StoreKit's `AppTransaction`, signed for one device.
        case appTransaction
        /// An app transaction from the App Store Server API: it names no device and has no revocation date.
        case serverAppTransaction
        /// The legacy receipt, which also lists purchases.
        case receipt

        /// Whether an artifact of this kind can report a refund of the app. Only an app transaction from a device can.
        var canCarryRevocation: Bool { self == .appTransaction }

        /// Whether an artifact of this kind can contain the end of a volume-purchase license. Only a receipt can.
        package var canCarryExpiration: Bool { self == .receipt }
    }

    /// The kind of artifact, which determines the facts that it can contain.
    public let kind: Kind
    /// When the App Store signed the artifact: `receiptCreationDate`, or attribute 12 of a receipt.
    public internal(set) var signedDate: Date?
    /// The acquisition's ID. Nil if the artifact has no such ID.
    public let id: AcquisitionID?
    /// The signed `originalPlatform`; nil if it's absent or unknown (rule A2 of Docs/decision-rules.md).
    public let originalPlatform: Platform?
    /// The text as signed, which may be malformed; nil if it is absent or empty.
    public let originalAppVersion: String?
    /// When the account first got the app, as signed.
    public let originalPurchaseDate: Date?
    /// When the app was preordered. This date proves no era (rule B2).
    public let preorderDate: Date?
    /// When the purchase of the app was refunded or revoked. Nil if the artifact reports neither.
    public let revocationDate: Date?
    /// When a volume-purchase license ends. Nil if the artifact contains no such end.
    public let expirationDate: Date?

    package init(
        kind: Kind, signedDate: Date?, id: AcquisitionID? = nil, originalPlatform: Platform? = nil,
        originalAppVersion: String? = nil, originalPurchaseDate: Date? = nil, preorderDate: Date? = nil,
        revocationDate: Date? = nil, expirationDate: Date? = nil
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

    /// The same proof without its signing date, to compare facts.
    package var withoutSigning: AppProof {
        var proof = self
        proof.signedDate = nil
        return proof
    }
}

extension AppProof {
    /// The signing date, by which the latest-signed artifact is found. An artifact without a signing date is treated as
    /// the oldest.
    var effectiveSignedDate: Date { signedDate ?? .distantPast }

    /// Sorts by signing date, the earliest first. Artifacts without one come last, because the first artifact with a
    /// fact is used. Artifacts signed at the same time are sorted by content, so the order of arrival doesn't matter.
    static func areInSigningOrder(_ left: AppProof, _ right: AppProof) -> Bool {
        let (leftSigned, rightSigned) = (left.signedDate ?? .distantFuture, right.signedDate ?? .distantFuture)
        if leftSigned != rightSigned { return leftSigned < rightSigned }
        let leftDate = left.originalPurchaseDate ?? .distantFuture
        let rightDate = right.originalPurchaseDate ?? .distantFuture
        return leftDate != rightDate ? leftDate < rightDate : left.canonicalText < right.canonicalText
    }

    /// All facts but the two dates that the sorting compares first, as one string.
    private var canonicalText: String {
        let id =
            switch self.id {
            case .appTransaction(let id): "a" + id
            case .download(let id): "d" + id
            case nil: ""
            }
        let texts = [kind.rawValue, id, originalPlatform?.rawValue ?? "", originalAppVersion ?? ""]
        let dates = [preorderDate, revocationDate, expirationDate].map {
            $0.map { "\($0.timeIntervalSince1970)" } ?? ""
        }
        return (texts + dates).joined(separator: "\u{0}")
    }
}

/// Apple's ID for one account's acquisition of the app.
public enum AcquisitionID: Sendable, Hashable {
    /// `appTransactionId`: one per Apple Account and app, stable across devices, refunds and repurchases.
    case appTransaction(String)
    /// Attribute 15 of a receipt, `download_id`: the same in every receipt of one purchase of the app.
    case download(String)
}
