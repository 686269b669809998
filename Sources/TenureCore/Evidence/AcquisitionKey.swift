public import Foundation

/// Identifies an acquisition by Apple's IDs, or by the purchase date if there is no ID. A property is nil if no
/// artifact contains it.
public struct AcquisitionKey: Sendable, Hashable {
    /// `appTransactionId`, one per Apple Account and app.
    public let appTransactionID: String?
    /// `download_id` of receipts (attribute 15).
    public let downloadID: String?
    /// When the account first got the app; stable across reinstalls and devices.
    public let originalPurchaseDate: Date?

    package init(appTransactionID: String?, downloadID: String?, originalPurchaseDate: Date?) {
        self.appTransactionID = appTransactionID
        self.downloadID = downloadID
        self.originalPurchaseDate = originalPurchaseDate
    }

    package init(of proof: AppProof) { self.init(of: [proof]) }

    /// Takes each ID and the date from the first proof that has it.
    init(of proofs: [AppProof]) {
        var appTransactionID: String?
        var downloadID: String?
        for proof in proofs {
            switch proof.id {
            case .appTransaction(let id): appTransactionID = appTransactionID ?? id
            case .download(let id): downloadID = downloadID ?? id
            case nil: break
            }
        }
        self.init(
            appTransactionID: appTransactionID, downloadID: downloadID,
            originalPurchaseDate: proofs.lazy.compactMap(\.originalPurchaseDate).first)
    }

    /// Whether the two keys have different IDs of one kind, so that they can't identify one acquisition.
    func contradicts(_ other: AcquisitionKey) -> Bool {
        if let mine = appTransactionID, let others = other.appTransactionID, mine != others { return true }
        if let mine = downloadID, let others = other.downloadID, mine != others { return true }
        return false
    }

    /// Whether the key has an ID or a date. Otherwise the acquisition can't be identified, so it gets no promises.
    var isKnown: Bool { appTransactionID != nil || downloadID != nil || originalPurchaseDate != nil }

    /// Whether the two keys identify one acquisition: the same ID, or matching dates and no contradicting IDs.
    package func matches(_ other: AcquisitionKey) -> Bool {
        if contradicts(other) { return false }
        if appTransactionID != nil, appTransactionID == other.appTransactionID { return true }
        if downloadID != nil, downloadID == other.downloadID { return true }
        guard let mine = originalPurchaseDate, let others = other.originalPurchaseDate else { return false }
        return abs(mine.timeIntervalSince(others)) <= Tolerance.seconds
    }
}

/// The accepted difference between two dates of one purchase. The App Store's dates sometimes differ by a second.
package enum Tolerance {
    /// The largest accepted difference.
    package static let seconds: TimeInterval = 2
}
