import TenureStore

/// Verdicts by the key of plain facts: of a million customers there are a few thousand different ones.
struct KnownVerdicts: Sendable {
    struct Known: Sendable {
        let verdicts: [Verdict]
        let place: Place
    }

    private(set) var indices: [[UInt8]: Int] = [:]
    private(set) var all: [Known] = []

    /// Beyond it customers are decided one by one, which takes time and no memory.
    private static let most = 40_000

    var isFull: Bool { all.count >= Self.most }

    subscript(key: [UInt8]) -> Int? { indices[key] }

    /// Returns its place.
    mutating func add(_ known: Known, as key: [UInt8]) -> Int {
        indices[key] = all.count
        all.append(known)
        return all.count - 1
    }

    /// Those of another one that are not here yet.
    mutating func add(_ other: KnownVerdicts, from first: Int) {
        guard other.all.count > first else { return }
        for (key, index) in other.indices where index >= first && indices[key] == nil && !isFull {
            _ = add(other.all[index], as: key)
        }
    }
}
