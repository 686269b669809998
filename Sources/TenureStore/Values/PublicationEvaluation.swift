import TenureCore

/// What a policy does to one customer, as far as a publication needs to know.
package struct PublicationImpact: Sendable, Hashable {
    /// Whether the customer gains something.
    package var gains: Bool
    /// Whether the customer loses something. If the publication keeps promises, what was promised isn't lost.
    package var loses: Bool
    /// The names of the entitlements with promises (`StoredPromise`) that the publication ends.
    package var ending: Set<String>

    package init(gains: Bool = false, loses: Bool = false, ending: Set<String> = []) {
        self.gains = gains
        self.loses = loses
        self.ending = ending
    }
}

/// What a publication does to all customers, as of a position in the history of the database.
///
/// A rehearsal (dry run of the policy) reads all customers and calls `add` for each. Then `removeImpacts` and `update`
/// replace the impacts on customers that changed meanwhile, until only few customers have changed. The transaction that
/// publishes does the same for these few customers.
package struct PublicationEvaluation: Sendable {
    /// The impacts by the customer's row ID, for the customers that the publication affects.
    package private(set) var impacts: [Int64: PublicationImpact] = [:]
    /// The value for `promises.ending` of the promises that the publication ends: random, and not 0. See
    /// `DatabaseTransaction+PromiseMarks.swift`.
    let mark = Int64.random(in: 1 ... .max)
    /// The row IDs of customers with promises to mark, or with marks to remove, according to the impacts.
    var unmarkedCustomers: Set<Int64> = []
    /// Whether marking has begun, so that changed customers may have marks.
    private var isMarking = false
    /// The position before the first customer was read, or of the last call of `removeImpacts`.
    package private(set) var position: DatabasePosition
    /// The row IDs of the customers that `add` counted, in ascending order.
    private var customersOfFirstReading: [Int64] = []
    /// The row IDs of the customers that changed since the first reading, and whether each of them is counted now.
    private var readAgain: [Int64: Bool] = [:]

    package init(at position: DatabasePosition) { self.position = position }

    /// How many customers there are, without unbound customers (`DatabaseTransaction`).
    package var customers: Int {
        // Corrects the count of the first reading by the customers that changed since then.
        readAgain.reduce(customersOfFirstReading.count) { count, entry in
            count + (entry.value ? 1 : 0) - (wasRead(entry.key) ? 1 : 0)
        }
    }

    /// Adds a customer in the first reading. Call it in the order of the customers' row IDs.
    package mutating func add(_ subject: CustomerToEvaluate, _ impact: PublicationImpact) {
        setImpact(impact, of: subject.customer.id)
        if !subject.isUnbound { customersOfFirstReading.append(subject.customer.id) }
    }

    /// Removes the impacts on customers that changed. The caller evaluates these customers again and calls `update`.
    package mutating func removeImpacts(of changes: ChangedCustomers) {
        position = changes.position
        for id in changes.outdatedCustomers {
            impacts[id] = nil
            readAgain[id] = false
        }
        // Without any marks yet, a customer without an impact has nothing to mark and no mark to remove.
        if isMarking {
            unmarkedCustomers.formUnion(changes.outdatedCustomers)
        } else {
            unmarkedCustomers.subtract(changes.outdatedCustomers)
        }
    }

    /// Sets the publication's impact on a customer that changed and was evaluated again.
    package mutating func update(_ subject: CustomerToEvaluate, _ impact: PublicationImpact) {
        setImpact(impact, of: subject.customer.id)
        readAgain[subject.customer.id] = !subject.isUnbound
    }

    /// Sets the publication's impact on a customer. `add` and `update` also count the customer.
    package mutating func setImpact(_ impact: PublicationImpact, of id: Int64) {
        impacts[id] = impact == PublicationImpact() ? nil : impact
        if !impact.ending.isEmpty { unmarkedCustomers.insert(id) }
    }

    /// Begins to mark promises, if there are promises to mark and marking hasn't begun. Returns whether it begins now.
    mutating func beginMarking() -> Bool {
        guard !isMarking, !unmarkedCustomers.isEmpty else { return false }
        isMarking = true
        return true
    }

    /// Marks the promises that `Store.markPromises` didn't mark, in the transaction that publishes.
    mutating func markRemaining(in transaction: DatabaseTransaction) throws(StoreError) {
        if beginMarking() { try transaction.beginMarking(mark) }
        guard isMarking else { return }
        try transaction.markPromises(of: unmarkedCustomers.sorted(), by: self)
        try transaction.endMarking()
    }

    /// Whether `add` counted the customer with this row ID.
    private func wasRead(_ id: Int64) -> Bool {
        let index = customersOfFirstReading.partitioningIndex { $0 >= id }
        return index < customersOfFirstReading.count && customersOfFirstReading[index] == id
    }
}

/// A position in the history of the database: later rows have higher row IDs. A position is read while no transaction
/// writes.
package struct DatabasePosition: Sendable, Hashable {
    /// The ID of the last row, by the name of the table. Empty tables are left out.
    let last: [String: Int64]
    /// The row IDs of the members (rows of `customers`) with artifacts of unfinished updates, which don't count yet.
    let unfinishedMembers: [Int64]
}

/// The customers who changed between two positions of the database.
package struct ChangedCustomers: Sendable {
    /// The later of the two positions, from which the next comparison begins.
    let position: DatabasePosition
    /// The row IDs of the customers to evaluate. For a customer that was merged into another, only the other is listed.
    package let customers: [Int64]
    /// The row IDs of customers with impacts that are no longer valid. Some of these customers don't exist anymore.
    package let outdatedCustomers: Set<Int64>
}

/// A customer to evaluate, with the promises that a rollback would restore.
package struct CustomerToEvaluate: Sendable, Hashable {
    package let customer: Customer
    /// Whether the customer is unbound: the artifacts came without proof that they belong to the sender. Unbound
    /// customers aren't counted. Their promises repeat the promises of the customers whom the artifacts name, and end
    /// together with these.
    package let isUnbound: Bool
    /// The promises that a rollback would restore; empty for other publications.
    package let restored: [StoredPromise]

    package init(customer: Customer, isUnbound: Bool, restored: [StoredPromise]) {
        self.customer = customer
        self.isUnbound = isUnbound
        self.restored = restored
    }
}
