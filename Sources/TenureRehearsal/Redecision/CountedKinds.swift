/// Counts customers by kind. Customers who differ only in ways that can't change a decision are of one kind
/// (`CustomerKinds`), so a rehearsal decides only once for all of them. The counts are added to a tally at the end.
///
/// The database is read in pages, and each page has its own counts.
struct CountedKinds: Sendable {
    /// The kinds that were found so far, with their effects.
    private(set) var knownKinds = CustomerKinds()
    /// The number of customers of each kind, in the order of `knownKinds`.
    private var times: [Int] = []
    /// The number of customers of all these kinds. Customers without a kind were added to the tally directly.
    private(set) var customers = 0

    /// Adds the counts of a page. Kinds are never removed from `knownKinds`, so the indexes of a page stay valid.
    ///
    /// - Parameters:
    ///   - newKinds: the new kinds that the page found. Another page may have found the same kinds meanwhile.
    ///   - more: the number of customers of each kind that was known before the page, then of each new kind.
    ///   - maximumKinds: the maximum number of kinds to keep.
    ///   - tally: receives the customers of new kinds that exceed this maximum.
    mutating func add(_ newKinds: CustomerKinds, times more: [Int], upTo maximumKinds: Int, in tally: inout Tally) {
        let firstNew = more.count - newKinds.count
        for index in 0..<firstNew where more[index] > 0 { count(more[index], at: index) }
        newKinds.forEach { index, kind, key, hash in
            let times = more[firstNew + index]
            if let knownIndex = knownKinds.index(of: key, hash: hash) {
                count(times, at: knownIndex)
            } else if knownKinds.count < maximumKinds {
                knownKinds.add(kind, as: key, hash: hash)
                self.times.append(0)
                count(times, at: knownKinds.count - 1)
            } else {
                tally.add(kind.customerEffects, in: kind.place, times: times)
            }
        }
    }

    /// Counts more customers of the kind with this index.
    private mutating func count(_ more: Int, at index: Int) {
        times[index] += more
        customers += more
    }

    /// Adds the customers of all kinds to a tally.
    func add(to tally: inout Tally) {
        for (kind, times) in zip(knownKinds.all, times) where times > 0 {
            tally.add(kind.customerEffects, in: kind.place, times: times)
        }
    }
}
