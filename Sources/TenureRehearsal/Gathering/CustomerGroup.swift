import TenureCore
import TenureStore

/// Everything that the lines of one customer prove. Encoded, because most customers have one line and only wait for
/// others.
struct CustomerGroup {
    /// The smallest of the exporters' IDs.
    private(set) var exportedID: String?
    private var parts: [[UInt8]] = []
    private var joinAt = 32

    mutating func add(_ entry: SpillRecord.Entry) {
        if let id = entry.exportedID { exportedID = min(id, exportedID ?? id) }
        // The same line again adds nothing.
        guard parts.last.map({ $0.elementsEqual(entry.facts) }) != true else { return }
        parts.append(Array(entry.facts))
        guard parts.count >= joinAt else { return }
        let joined = self.facts
        parts = [joined.encoded]
        // Larger groups are joined less often, so that the time grows only linearly with the number of lines.
        joinAt = 32 + joined.purchases.count + joined.proofs.count
    }

    /// The whole group as one entry.
    var entry: SpillRecord.Entry { SpillRecord.Entry(exportedID: exportedID, weaker: nil, facts: facts.encoded[...]) }

    var facts: CustomerFacts {
        var all = parts.compactMap { try? CustomerFacts(decoding: $0) }
        guard all.count != 1 else { return all.removeLast() }
        var joined = CustomerFacts()
        joined.add(all.flatMap(\.proofs))
        joined.add(all.flatMap(\.purchases))
        joined.add(all.flatMap(\.renewals))
        // One line with all purchases makes the group complete. The other lines only add to it.
        joined.purchasesAreComplete = all.contains(where: \.purchasesAreComplete)
        return joined
    }
}
