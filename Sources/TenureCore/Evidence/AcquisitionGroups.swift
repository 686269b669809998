import Foundation

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
private func closestPair(in groups: [[AppProof]]) -> (first: Int, second: Int)? {
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
