import Foundation

/// Returns the proofs that a decision may need, the earliest-signed first.
///
/// The App Store signs the same facts again and again. Of proofs that differ only in their signing date, this keeps:
/// - the last 64, unless they are of receipts;
/// - the first and the last of each month (UTC).
///
/// Rule E2 needs a signing after the last revoked one, which may arrive later. So this ignores revocations, and the
/// result is the same for any order of arrival and any grouping.
package func condensed(_ proofs: some Collection<AppProof>) -> [AppProof] {
    guard proofs.count > 1 else { return Array(proofs) }
    let rows = Dictionary(grouping: Set(proofs), by: \.withoutSigning)
    return rows.values.flatMap(essential).sorted(by: AppProof.areInOrder)
}

/// How many of the latest signings are kept.
private let latestSignings = 64

private func essential(_ row: [AppProof]) -> [AppProof] {
    guard row.count > 2 else { return row }
    let row = row.sorted(by: AppProof.areInOrder)
    // Receipts can't carry a revocation, so only the earliest and the latest of them count.
    let firstOfLatest = row[0].kind == .receipt ? row.count : row.count - latestSignings
    let months = row.map(\.month)
    return row.indices.filter { place in
        place == 0 || place == row.count - 1 || place >= firstOfLatest || months[place] != months[place - 1]
            || months[place] != months[place + 1]
    }.map { row[$0] }
}

extension AppProof {
    /// Those without a signing date come first. Of two signed at one instant, the content decides.
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
