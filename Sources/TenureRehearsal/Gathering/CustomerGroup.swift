import TenureCore
import TenureStore

/// All that the lines of one customer prove: as bytes, since most customers have one line and wait for others.
struct CustomerGroup {
    /// The smallest of what exporters called them.
    private(set) var exportedID: String?
    private var parts: [[UInt8]] = []
    private var joinAt = 32

    mutating func add(_ facts: ArraySlice<UInt8>, exportedID: String?) {
        if let exportedID { self.exportedID = min(exportedID, self.exportedID ?? exportedID) }
        // The same line again adds nothing.
        guard parts.last.map({ $0.elementsEqual(facts) }) != true else { return }
        parts.append(Array(facts))
        guard parts.count >= joinAt else { return }
        let joined = self.facts
        parts = [joined.encoded]
        // What grows without end is joined ever less often, so that all of it costs no more than its length.
        joinAt = 32 + joined.purchases.count + joined.proofs.count
    }

    var facts: CustomerFacts {
        var all = parts.compactMap { try? CustomerFacts(decoding: $0) }
        guard all.count != 1 else { return all.removeLast() }
        var joined = CustomerFacts()
        joined.add(all.flatMap(\.proofs))
        joined.add(all.flatMap(\.purchases))
        joined.add(all.flatMap(\.renewals))
        joined.purchasesAreComplete = all.contains(where: \.purchasesAreComplete)
        return joined
    }
}
