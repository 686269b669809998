extension Sequence {
    /// Returns the elements with the highest counts first. Elements with equal counts are in the order of their names,
    /// so that a report doesn't depend on the order of the input.
    func sorted<Name: Comparable>(byCount count: (Element) -> Int, then name: (Element) -> Name) -> [Element] {
        sorted { left, right in
            let (leftCount, rightCount) = (count(left), count(right))
            return leftCount != rightCount ? leftCount > rightCount : name(left) < name(right)
        }
    }
}
