import Foundation

/// Returns only the proofs (facts of verified app transactions and receipts) that a decision may need, the
/// earliest-signed first.
///
/// The App Store often signs the same facts again. Of proofs that differ only in their signing date, this function
/// keeps:
/// - the last 64 proofs, unless they are of receipts;
/// - the first and the last proof of each month (UTC).
///
/// Rule E2 of Docs/decision-rules.md needs a proof that was signed after the last revoked proof. The revoked proof may
/// be received later, so this function doesn't look at revocations. The order of the proofs doesn't change the
/// result, and neither does condensing some of them first.
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

extension AppProof {
    /// Sorts by signing date. Proofs without a signing date come first, because they are treated as the oldest. Proofs
    /// that were signed at the same time are sorted by content.
    fileprivate static func areInSigningOrderUndatedFirst(_ left: AppProof, _ right: AppProof) -> Bool {
        let (leftSigned, rightSigned) = (left.signedDate ?? .distantPast, right.signedDate ?? .distantPast)
        return leftSigned == rightSigned ? areInSigningOrder(left, right) : leftSigned < rightSigned
    }

    /// The month of the signing date in UTC, counted from year 0. Nil if there is no signing date.
    fileprivate var month: Int? { signedDate.map { CivilDay(of: $0) }.map { $0.year * 12 + $0.month } }
}
