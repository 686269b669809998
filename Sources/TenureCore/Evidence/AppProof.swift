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

    /// The kind of artifact, which determines whether it can contain a revocation.
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

    /// Sorts by signing date. Proofs without a signing date come first, because they are treated as the oldest. Proofs
    /// that were signed at the same time are sorted by content.
    fileprivate static func areInSigningOrderUndatedFirst(_ left: AppProof, _ right: AppProof) -> Bool {
        let (leftSigned, rightSigned) = (left.signedDate ?? .distantPast, right.signedDate ?? .distantPast)
        return leftSigned == rightSigned ? areInSigningOrder(left, right) : leftSigned < rightSigned
    }

    /// The same proof without its signing date, to compare facts.
    package var withoutSigning: AppProof {
        var proof = self
        proof.signedDate = nil
        return proof
    }

    /// The month of the signing date in UTC, counted from year 0. Nil if there is no signing date.
    fileprivate var month: Int? { signedDate.map { CivilDay(of: $0) }.map { $0.year * 12 + $0.month } }
}

/// Apple's ID for one account's acquisition of the app.
public enum AcquisitionID: Sendable, Hashable {
    /// `appTransactionId`: one per Apple Account and app, stable across devices, refunds and repurchases.
    case appTransaction(String)
    /// Attribute 15 of a receipt, `download_id`: the same in every receipt of one purchase of the app.
    case download(String)
}

/// Returns only the proofs (facts of verified app transactions and receipts) that a decision may need, the
/// earliest-signed first.
///
/// The App Store often signs the same facts again. Of proofs that differ only in their signing date, this function
/// keeps:
/// - the last 64 proofs, unless they are of receipts;
/// - the first and the last proof of each month (UTC).
///
/// Rule E2 of Docs/decision-rules.md needs a proof that was signed after the last revoked proof. The revoked proof may
/// be received later, so this function doesn't look at revocations. The result doesn't depend on the order in which
/// proofs are received, or on how they are grouped into calls.
package func condensed(_ proofs: some Collection<AppProof>) -> [AppProof] {
    guard proofs.count > 1 else { return Array(proofs) }
    let groups = Dictionary(grouping: Set(proofs), by: \.withoutSigning)
    return groups.values.flatMap(proofsToKeep).sorted(by: AppProof.areInSigningOrderUndatedFirst)
}

/// How many of the latest proofs with the same facts are kept.
private let latestSignings = 64

/// Returns the proofs to keep, of proofs that differ only in their signing date.
private func proofsToKeep(of proofs: [AppProof]) -> [AppProof] {
    guard proofs.count > 2 else { return proofs }
    let proofs = proofs.sorted(by: AppProof.areInSigningOrderUndatedFirst)
    // A receipt can't contain a revocation, so the latest 64 aren't needed.
    let firstOfLatest = proofs[0].kind == .receipt ? proofs.count : proofs.count - latestSignings
    let months = proofs.map(\.month)
    return proofs.indices.filter { index in
        index == 0 || index == proofs.count - 1 || index >= firstOfLatest || months[index] != months[index - 1]
            || months[index] != months[index + 1]
    }.map { proofs[$0] }
}
