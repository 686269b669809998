import TenureStore

/// The facts from all lines of the evidence file that belong to one customer. The facts stay encoded to save time,
/// because most customers have only one line.
struct CustomerGroup {
    /// The smallest `id` in the customer's lines; nil if no line has an `id`.
    private(set) var exportedID: String?
    /// The encoded facts: one element for each line, or for several lines that were joined.
    private var parts: [[UInt8]] = []
    /// The number of elements of `parts` at which all are decoded and joined into one.
    private var joinAt = 32

    /// Adds the facts of one of the customer's lines.
    mutating func add(_ entry: SpillRecord.Entry) {
        if let id = entry.exportedID { exportedID = min(id, exportedID ?? id) }
        // Skip a line with the same facts as the line before.
        guard parts.last.map({ $0.elementsEqual(entry.facts) }) != true else { return }
        parts.append(Array(entry.facts))
        guard parts.count >= joinAt else { return }
        let joined = self.facts
        parts = [joined.encoded]
        // Join larger groups less often, so that the time grows only linearly with the number of lines.
        joinAt = 32 + joined.purchases.count + joined.proofs.count
    }

    /// The whole group as one entry.
    var entry: SpillRecord.Entry { SpillRecord.Entry(exportedID: exportedID, nextName: nil, facts: facts.encoded[...]) }

    /// The facts of all lines together.
    var facts: CustomerFacts {
        var decodedParts = parts.compactMap { try? CustomerFacts(decoding: $0) }
        guard decodedParts.count != 1 else { return decodedParts.removeLast() }
        var joined = CustomerFacts()
        joined.add(decodedParts.flatMap(\.proofs))
        joined.add(decodedParts.flatMap(\.purchases))
        joined.add(decodedParts.flatMap(\.renewals))
        // If one line has all purchases of the customer, the purchases of all lines together are complete.
        joined.purchasesAreComplete = decodedParts.contains(where: \.purchasesAreComplete)
        return joined
    }
}
