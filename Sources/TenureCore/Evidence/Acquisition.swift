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
    fileprivate init(of proofs: [AppProof]) {
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

extension AppProof {
    /// The signing date, with which artifacts are compared. An artifact without a signing date is treated as the
    /// oldest.
    fileprivate var effectiveSignedDate: Date { signedDate ?? .distantPast }

    /// Sorts by signing date, the earliest first. Artifacts without a signing date come last. Artifacts that were
    /// signed at the same time are sorted by content, so that the order in which they were received doesn't matter.
    static func areInSigningOrder(_ left: AppProof, _ right: AppProof) -> Bool {
        let signings = (left.signedDate ?? .distantFuture, right.signedDate ?? .distantFuture)
        if signings.0 != signings.1 { return signings.0 < signings.1 }
        let dates = (left.originalPurchaseDate ?? .distantFuture, right.originalPurchaseDate ?? .distantFuture)
        if dates.0 != dates.1 { return dates.0 < dates.1 }
        let texts = (left.canonicalText, right.canonicalText)
        return texts.0 < texts.1
    }

    /// All facts but the two dates that the sorting compares first, as one string.
    fileprivate var canonicalText: String {
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

/// Groups the artifacts of one customer into acquisitions.
///
/// Artifacts are first grouped by ID. Then groups with matching dates are joined, the pair with the closest dates
/// first, unless the joined group would have two different IDs of one kind. Equally close pairs are joined in the order
/// of their content.
package func acquisitions(in proofs: [AppProof]) -> [Acquisition] {
    if proofs.count == 1 { return [Acquisition(of: proofs)] }
    var groups: [[AppProof]] = []
    var groupOfID: [AcquisitionID: Int] = [:]
    var groupOfDate: [Date: Int] = [:]
    for proof in Set(proofs).sorted(by: AppProof.areInSigningOrder) {
        // All proofs that have no ID and the same date form one group.
        let existingGroup: Int? =
            if let id = proof.id { groupOfID[id] } else { proof.originalPurchaseDate.flatMap { groupOfDate[$0] } }
        if let group = existingGroup {
            groups[group].append(proof)
        } else {
            if let id = proof.id {
                groupOfID[id] = groups.count
            } else if let date = proof.originalPurchaseDate {
                groupOfDate[date] = groups.count
            }
            groups.append([proof])
        }
    }
    while let (first, second) = closestPair(in: groups) {
        groups[first] += groups[second]
        groups.remove(at: second)
    }
    return groups.map { Acquisition(of: $0) }
        .sorted { ($0.originalPurchaseDate ?? .distantFuture) < ($1.originalPurchaseDate ?? .distantFuture) }
}

/// Returns the indexes of the two groups to join next; nil if no two groups have matching dates and IDs that don't
/// contradict each other.
private func closestPair(in groups: [[AppProof]]) -> (Int, Int)? {
    var best: (first: Int, second: Int, distance: TimeInterval)?
    for first in groups.indices {
        for second in groups.indices where second > first {
            guard let distance = distance(groups[first], groups[second]), distance < (best?.distance ?? .infinity),
                !AcquisitionKey(of: groups[first]).contradicts(AcquisitionKey(of: groups[second]))
            else { continue }
            best = (first, second, distance)
        }
    }
    return best.map { ($0.first, $0.second) }
}

/// Returns the smallest difference between a date of one group and a date of the other group; nil if the difference
/// exceeds the tolerance.
private func distance(_ left: [AppProof], _ right: [AppProof]) -> TimeInterval? {
    var smallest = TimeInterval.infinity
    for mine in left.lazy.compactMap(\.originalPurchaseDate) {
        for other in right.lazy.compactMap(\.originalPurchaseDate) {
            smallest = min(smallest, abs(mine.timeIntervalSince(other)))
        }
    }
    return smallest <= Tolerance.seconds ? smallest : nil
}
