extension Range<Int64> {
    /// Returns the parts of this range that are in none of the other ranges, in order.
    func subtracting(_ others: [Range<Int64>]) -> [Range<Int64>] {
        var parts: [Range<Int64>] = []
        var start = lowerBound
        for other in others.sorted(by: { $0.lowerBound < $1.lowerBound }) where other.overlaps(self) {
            if start < other.lowerBound { parts.append(start..<other.lowerBound) }
            start = Swift.max(start, other.upperBound)
        }
        if start < upperBound { parts.append(start..<upperBound) }
        return parts
    }
}
