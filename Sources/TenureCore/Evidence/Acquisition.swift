public import Foundation

/// One account's acquisition of the app: the facts from all artifacts (app transactions and receipts) about it.
///
/// Each `original…` field comes from the earliest-signed artifact in which it is readable. Each acquisition is decided
/// separately: the version of one acquisition is never combined with the date of another acquisition.
public struct Acquisition: Sendable, Hashable {
    /// Identifies the acquisition, also in a `Promise`, which records a right of the acquisition.
    public let key: AcquisitionKey
    /// The platform of the acquisition; nil if it is missing or unknown, or if the platform's App Store hadn't opened
    /// on the original purchase date (rule A9 of Docs/decision-rules.md).
    public let originalPlatform: Platform?
    /// The version as signed: a marketing version on macOS, elsewhere a build (rule A1).
    public let originalAppVersion: String?
    /// When the account first got the app; stable across reinstalls and devices.
    public let originalPurchaseDate: Date?
    /// When the app was preordered. This date proves no era (rule B2).
    public let preorderDate: Date?
    /// The latest refund of the app that the App Store has reported; nil if there was no refund.
    package let refund: Refund?
    /// When a volume-purchase license ends, according to the latest-signed receipt. Nil if there is no such end.
    public let expirationDate: Date?

    /// The parsed `originalAppVersion`. Nil if it is absent or malformed.
    package let version: AppVersion?

    /// The dates of the latest artifact with a revocation, and of later artifacts, which may restore the right to the
    /// app.
    package struct Refund: Sendable, Hashable {
        /// When the purchase was refunded, according to the latest revoked artifact.
        let revocationDate: Date
        /// When the latest revoked artifact was signed.
        let signedDate: Date
        /// The signing dates of later artifacts without a revocation, in ascending order. Only kinds of artifacts that
        /// can contain a revocation are included.
        let restorations: [Date]
    }

    /// Collects the facts of one acquisition. `proofs` isn't empty.
    init(of proofs: [AppProof]) {
        let bySigning = proofs.count > 1 ? proofs.sorted(by: AppProof.areInSigningOrder) : proofs
        key = AcquisitionKey(of: bySigning)
        let date = bySigning.lazy.compactMap(\.originalPurchaseDate).first
        originalPurchaseDate = date
        originalPlatform = bySigning.lazy.compactMap(\.originalPlatform).first { $0.isPossible(on: date) }
        let versions = bySigning.lazy.compactMap(\.originalAppVersion)
        let readable = versions.first { AppVersion($0) != nil }
        originalAppVersion = readable ?? versions.first
        version = readable.flatMap { AppVersion($0) }
        preorderDate = bySigning.lazy.compactMap(\.preorderDate).first
        refund = Self.refund(in: bySigning)
        // Rule E4. Of two receipts signed at the same time, the receipt with the later end, or with no end, is used.
        let receipts = bySigning.filter(\.kind.canCarryExpiration)
        expirationDate = Self.latest(of: receipts) { $0.expirationDate ?? .distantFuture }?.expirationDate
    }

    /// Returns the latest-signed proof. Of proofs signed at the same time, returns the proof with the latest `date`.
    private static func latest(of proofs: [AppProof], by date: (AppProof) -> Date) -> AppProof? {
        proofs.max { ($0.effectiveSignedDate, date($0)) < ($1.effectiveSignedDate, date($1)) }
    }

    /// Rules E1 and E2: the latest refund, and the artifacts that may restore the right after it. A receipt can't
    /// contain a revocation, so a receipt doesn't restore the right.
    private static func refund(in proofs: [AppProof]) -> Refund? {
        let revoked = proofs.filter { $0.revocationDate != nil }
        let last = latest(of: revoked) { $0.revocationDate ?? .distantPast }
        guard let last, let revocationDate = last.revocationDate else { return nil }
        // If an artifact contains a revocation, its kind can contain revocations. So later artifacts of this kind may
        // restore the right.
        let kindsWithRevocation = Set(revoked.map(\.kind))
        let restorations = proofs.filter {
            $0.revocationDate == nil && ($0.kind.canCarryRevocation || kindsWithRevocation.contains($0.kind))
                // Of two artifacts signed at the same time, the revoked artifact is treated as the later one.
                && $0.effectiveSignedDate > last.effectiveSignedDate && $0.effectiveSignedDate >= revocationDate
        }
        return Refund(
            revocationDate: revocationDate, signedDate: last.effectiveSignedDate,
            restorations: restorations.map(\.effectiveSignedDate).sorted())
    }
}
