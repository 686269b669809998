extension Array {
    /// Returns the index of the first element that satisfies `test`, or the end of the array, by binary search. All
    /// elements after the first one must satisfy `test`, too.
    @inlinable package func partitioningIndex(where test: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if test(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
