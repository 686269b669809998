import Foundation

/// Returns only the proofs that a decision may need, the earliest-signed first.
///
/// The App Store often signs the same facts again. Of proofs that differ only in their signing date, this keeps:
/// - the last 64, unless they are of receipts;
/// - the first and the last of each month (UTC).
///
/// Rule E2 needs a proof that was signed after the last revoked one. The revoked one may be received later, so this
/// function doesn't look at revocations. The result doesn't depend on the order in which proofs are received, or on how
/// they are grouped into calls.
package func condensed(_ proofs: some Collection<AppProof>) -> [AppProof] {
    guard proofs.count > 1 else { return Array(proofs) }
    let rows = Dictionary(grouping: Set(proofs), by: \.withoutSigning)
    return rows.values.flatMap(essential).sorted(by: AppProof.areInOrder)
}

/// The number of latest proofs that are kept.
private let latestSignings = 64

private func essential(_ row: [AppProof]) -> [AppProof] {
    guard row.count > 2 else { return row }
    let row = row.sorted(by: AppProof.areInOrder)
    // A receipt can't contain a revocation, so the latest 64 aren't needed.
    let firstOfLatest = row[0].kind == .receipt ? row.count : row.count - latestSignings
    let months = row.map(\.month)
    return row.indices.filter { place in
        place == 0 || place == row.count - 1 || place >= firstOfLatest || months[place] != months[place - 1]
            || months[place] != months[place + 1]
    }.map { row[$0] }
}

extension AppProof {
    /// Sorts by signing date. Proofs without one come first. Proofs that were signed at the same time are sorted by
    /// content.
    fileprivate static func areInOrder(_ left: AppProof, _ right: AppProof) -> Bool {
        let signings = (left.signedDate ?? .distantPast, right.signedDate ?? .distantPast)
        return signings.0 == signings.1 ? areInSigningOrder(left, right) : signings.0 < signings.1
    }

    /// The same proof without its signing date, to compare facts.
    package var withoutSigning: AppProof {
        AppProof(
            kind: kind, signedDate: nil, id: id, originalPlatform: originalPlatform,
            originalAppVersion: originalAppVersion, originalPurchaseDate: originalPurchaseDate,
            preorderDate: preorderDate, revocationDate: revocationDate, expirationDate: expirationDate)
    }

    fileprivate var month: Int? { signedDate.map { CivilDay(of: $0) }.map { $0.year * 12 + $0.month } }
}
