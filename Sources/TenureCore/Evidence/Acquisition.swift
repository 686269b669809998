public import Foundation

/// One account getting the app, once: the facts of all artifacts that belong to it.
///
/// Each original field comes from the earliest-signed artifact in which it can be read. Acquisitions are judged apart and
/// never complete each other's proofs.
public struct Acquisition: Sendable, Hashable {
    public let key: AcquisitionKey
    /// Nil also where the original purchase date contradicts the signed platform.
    public let originalPlatform: Platform?
    public let originalAppVersion: String?
    public let originalPurchaseDate: Date?
    public let preorderDate: Date?
    /// What the App Store last reported of a refund of the app; nil while it never reported one.
    package let refund: Refund?
    /// When a volume-purchase license ends, according to the latest-signed receipt.
    public let expirationDate: Date?

    /// The version, read; nil where it is absent or malformed.
    package let version: AppVersion?

    /// The latest revoked artifact, and what was signed after it.
    package struct Refund: Sendable, Hashable {
        let revocationDate: Date
        /// When the latest revoked artifact was signed.
        let signedDate: Date
        /// The signing instants of later artifacts, of a kind that can carry a revocation, without one. Ascending.
        let restorations: [Date]
    }

    /// The facts of artifacts that belong to one acquisition. `proofs` is not empty.
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
        expirationDate =
            bySigning.filter(\.kind.canCarryExpiration)
            .max {
                ($0.signingOrder, $0.expirationDate ?? .distantFuture) < (
                    $1.signingOrder, $1.expirationDate ?? .distantFuture
                )
            }?
            .expirationDate
    }

    /// Rules E1 and E2: what can end and restore era rights. Receipts can't carry a revocation, so they restore nothing.
    private static func refund(in proofs: [AppProof]) -> Refund? {
        let revoked = proofs.filter { $0.revocationDate != nil }
        let last = revoked.max {
            ($0.signingOrder, $0.revocationDate ?? .distantPast) < ($1.signingOrder, $1.revocationDate ?? .distantPast)
        }
        guard let last, let revocationDate = last.revocationDate else { return nil }
        // A kind that carried a revocation once can carry one, whatever was known of it: then its later ones count too.
        let revoking = Set(revoked.map(\.kind))
        let restorations =
            proofs.filter {
                $0.revocationDate == nil && ($0.kind.canCarryRevocation || revoking.contains($0.kind))
                    // Of two signed at one instant, the revoked one is later.
                    && $0.signingOrder > last.signingOrder && $0.signingOrder >= revocationDate
            }
            .map(\.signingOrder)
        return Refund(
            revocationDate: revocationDate, signedDate: last.signingOrder, restorations: restorations.sorted())
    }
}

extension Platform {
    /// Rule A9: nobody acquired an app on a platform before its store opened.
    fileprivate func isPossible(on date: Date?) -> Bool {
        guard let date, let storeOpening else { return true }
        return date >= storeOpening.addingTimeInterval(-Tolerance.seconds)
    }
}

/// By what an acquisition is known: Apple's ids, and the date where there is none.
public struct AcquisitionKey: Sendable, Hashable {
    public let appTransactionID: String?
    public let downloadID: String?
    public let originalPurchaseDate: Date?

    package init(appTransactionID: String?, downloadID: String?, originalPurchaseDate: Date?) {
        self.appTransactionID = appTransactionID
        self.downloadID = downloadID
        self.originalPurchaseDate = originalPurchaseDate
    }

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
            appTransactionID: appTransactionID,
            downloadID: downloadID,
            originalPurchaseDate: proofs.lazy.compactMap(\.originalPurchaseDate).first
        )
    }

    /// Whether they have different ids of one kind.
    package func contradicts(_ other: AcquisitionKey) -> Bool {
        if let mine = appTransactionID, let others = other.appTransactionID, mine != others { return true }
        if let mine = downloadID, let others = other.downloadID, mine != others { return true }
        return false
    }

    /// Whether anything tells this acquisition from others: without that, nothing can be promised to it.
    package var isKnown: Bool { appTransactionID != nil || downloadID != nil || originalPurchaseDate != nil }

    /// Whether both speak of one acquisition: the same id, or dates that agree and no different ids of one kind.
    package func matches(_ other: AcquisitionKey) -> Bool {
        if contradicts(other) { return false }
        if appTransactionID != nil, appTransactionID == other.appTransactionID { return true }
        if downloadID != nil, downloadID == other.downloadID { return true }
        guard let mine = originalPurchaseDate, let others = other.originalPurchaseDate else { return false }
        return abs(mine.timeIntervalSince(others)) <= Tolerance.seconds
    }
}

/// How far a purchase date may be off: the App Store's dates of one purchase differ by a second now and then.
package enum Tolerance {
    package static let seconds: TimeInterval = 2
}

extension AppProof {
    /// An artifact that does not say when it was signed counts as the oldest for what it says of the state.
    fileprivate var signingOrder: Date { signedDate ?? .distantPast }

    /// Earliest-signed first; one without a date last. Artifacts signed at one instant stand in an order of their
    /// content, so that the order in which they came never matters.
    static func areInSigningOrder(_ left: AppProof, _ right: AppProof) -> Bool {
        let signings = (left.signedDate ?? .distantFuture, right.signedDate ?? .distantFuture)
        if signings.0 != signings.1 { return signings.0 < signings.1 }
        let dates = (left.originalPurchaseDate ?? .distantFuture, right.originalPurchaseDate ?? .distantFuture)
        if dates.0 != dates.1 { return dates.0 < dates.1 }
        let texts = (left.canonicalText, right.canonicalText)
        return texts.0 < texts.1
    }

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
/// First by id. Then groups whose dates agree join, the closest pair first, unless that would put two different ids
/// of one kind into one group; where pairs are equally close, an order of their content decides.
package func acquisitions(in proofs: [AppProof]) -> [Acquisition] {
    if proofs.count == 1 { return [Acquisition(of: proofs)] }
    var groups: [[AppProof]] = []
    var groupOfID: [AcquisitionID: Int] = [:]
    var groupOfDate: [Date: Int] = [:]
    for proof in Set(proofs).sorted(by: AppProof.areInSigningOrder) {
        // Without an id, those with one date are the closest there can be: however many there are, they are one group.
        let known: Int? =
            if let id = proof.id { groupOfID[id] } else { proof.originalPurchaseDate.flatMap { groupOfDate[$0] } }
        if let group = known {
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

private func closestPair(in groups: [[AppProof]]) -> (Int, Int)? {
    var best: (Int, Int, distance: TimeInterval)?
    for first in groups.indices {
        for second in groups.indices where second > first {
            guard let distance = distance(groups[first], groups[second]), distance < (best?.distance ?? .infinity),
                !AcquisitionKey(of: groups[first]).contradicts(AcquisitionKey(of: groups[second]))
            else { continue }
            best = (first, second, distance)
        }
    }
    return best.map { ($0.0, $0.1) }
}

/// The smallest distance of two dates, one of each group, where it is within the tolerance.
private func distance(_ left: [AppProof], _ right: [AppProof]) -> TimeInterval? {
    var smallest = TimeInterval.infinity
    for mine in left.lazy.compactMap(\.originalPurchaseDate) {
        for other in right.lazy.compactMap(\.originalPurchaseDate) {
            smallest = min(smallest, abs(mine.timeIntervalSince(other)))
        }
    }
    return smallest <= Tolerance.seconds ? smallest : nil
}
