/// The names under which a report shows example customers: their IDs, or numbers, which identify no one. Customers are
/// numbered in the order of a hash of their IDs, so the numbers don't reveal the order of the input.
struct ExampleNames: Sendable {
    /// The number of each example, by the customer's ID.
    private let numbers: [String: Int]
    private let showsIDs: Bool

    init(in tally: Tally, showingIDs showsIDs: Bool) {
        self.showsIDs = showsIDs
        var ranks: [String: UInt64] = [:]
        for entitlement in tally.byEntitlement + tally.promisedOnly.values {
            let groups = Array(entitlement.examples.values) + entitlement.losses.values.map(\.examples)
            for example in groups.flatMap(\.all) { ranks[example.id] = example.customer.rank }
        }
        let sorted = ranks.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        numbers = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($0.element.key, $0.offset + 1) })
    }

    /// The ID or number of an example customer.
    subscript(example: Example) -> String {
        showsIDs ? (example.exportedID ?? example.id) : "customer \(numbers[example.id] ?? 0)"
    }
}
