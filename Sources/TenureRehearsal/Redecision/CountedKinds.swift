/// How many customers of each kind of plain facts a database has: counted by page, and added to a tally once, at the
/// end.
struct CountedKinds: Sendable {
    private(set) var known = KnownVerdicts()
    private var times: [Int] = []
    /// Those counted here; the rest is in the tally already.
    private(set) var customers = 0

    /// `own`: kinds that the page found in addition to the known ones. `times`: counts by the index of the known kinds,
    /// followed by the page's own. Nothing is removed from `known`, so these indexes stay valid.
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
