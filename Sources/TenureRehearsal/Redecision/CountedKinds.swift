/// Counts customers by kind. Customers with equal plain facts are of one kind. The counts of all pages are added to a
/// tally at the end.
struct CountedKinds: Sendable {
    private(set) var known = KnownVerdicts()
    private var times: [Int] = []
    /// The kinds that are counted here. Customers of other kinds are already in the tally.
    private(set) var customers = 0

    /// Adds the counts of a page. Kinds are never removed from `known`, so the indexes of a page stay valid.
    ///
    /// - Parameters:
    ///   - own: the new kinds that the page found.
    ///   - more: the count of each known kind by its index, followed by the counts of the page's new kinds.
    mutating func add(_ own: KnownVerdicts, times more: [Int], in tally: inout Tally) {
        let first = more.count - own.count
        for index in 0..<first where more[index] > 0 { count(more[index], at: index) }
        own.forEach { index, kind, key, hash in
            let times = more[first + index]
            if let place = known.index(of: key, hash: hash) {
                count(times, at: place)
            } else if known.count < KnownVerdicts.most {
                known.add(kind, as: key, hash: hash)
                self.times.append(0)
                count(times, at: known.count - 1)
            } else {
                tally.add(kind.judgment, in: kind.place, times: times)
            }
        }
    }

    private mutating func count(_ more: Int, at index: Int) {
        times[index] += more
        customers += more
    }

    func add(to tally: inout Tally) {
        for (kind, times) in zip(known.all, times) where times > 0 {
            tally.add(kind.judgment, in: kind.place, times: times)
        }
    }
}
