package import TenureCore

/// All counts of a rehearsal, in bounded memory.
/// Adding is associative and commutative: tallies of parts, merged in any order, equal the tally of the whole.
package struct Tally: Sendable, Hashable {
    /// In the order of the comparison.
    package let entitlements: [String]
    /// By the index in `entitlements`.
    package private(set) var byEntitlement: [EntitlementTally]
    /// Of entitlements that only a promise names.
    package private(set) var promisedOnly: [String: EntitlementTally] = [:]
    package private(set) var cells: Cells

    package private(set) var customers = 0
    /// Customers who gain some entitlement; they may lose another.
    package private(set) var gaining = 0
    /// Customers who lose some entitlement.
    package private(set) var losing = 0
    /// Customers who lose some entitlement although every promise is kept.
    package private(set) var losingWithPromises = 0
    /// Customers with another outcome, or another end: those who gain or lose included.
    package private(set) var changed = 0
    /// Customers who aren't among `changed`, and have another reason.
    package private(set) var changingReason = 0
    /// Customers who have some entitlement only because of a promise.
    package private(set) var heldByPromise = 0
    /// Customers with contradicting proofs in an acquisition, whatever reason decides.
    package private(set) var contradicting = 0
    /// Customers by the product that they bought and no entitlement lists.
    package private(set) var productsWithoutEntitlement: [String: Int] = [:]

    package init(for comparison: Comparison) {
        self.init(entitlements: comparison.entitlements)
    }

    package init(entitlements: [String], cellCapacity: Int = Cells.standardCapacity) {
        self.entitlements = entitlements
        byEntitlement = entitlements.map { _ in EntitlementTally() }
        cells = Cells(capacity: cellCapacity)
    }

    /// Counts a customer, as this tally's comparison judges them.
    package mutating func add(_ customer: RehearsedCustomer, _ judgment: Judgment) {
        add(judgment, in: customer.place, times: 1)
        offer(customer, judgment.written)
    }

    /// Counts that many customers with the same verdicts and the same place.
    package mutating func add(_ judgment: Judgment, in place: Place, times: Int) {
        let verdicts = judgment.written
        customers += times
        if judgment.hasContradictingProofs { contradicting += times }
        if judgment.losesDespitePromises { losingWithPromises += times }
        for product in judgment.productsWithoutEntitlement { productsWithoutEntitlement[product, default: 0] += times }
        let changes = verdicts.map(\.change)
        for (index, verdict) in verdicts.enumerated() {
            if index < byEntitlement.count {
                byEntitlement[index].add(verdict, changing: changes[index], in: place, times: times)
            } else {
                promisedOnly[verdict.entitlement, default: EntitlementTally()]
                    .add(verdict, changing: changes[index], in: place, times: times)
            }
        }
        // A customer who gains one entitlement and loses another counts as both.
        if changes.contains(.gains) { gaining += times }
        if changes.contains(.loses) { losing += times }
        if changes.contains(where: { $0?.isOfOutcome == true }) {
            changed += times
        } else if changes.contains(.changesReason) {
            changingReason += times
        }
        if verdicts.contains(where: \.now.isPromised) { heldByPromise += times }
        let counted = min(verdicts.count, byEntitlement.count)
        cells.add(place) { counts in
            while counts.count < counted { counts.append(Counts()) }
            for index in 0..<counted { counts[index].add(verdicts[index], changing: changes[index], times: times) }
        }
    }

    /// Offers a customer who is counted already as an example.
    package mutating func offer(_ customer: RehearsedCustomer, _ verdicts: [Verdict]) {
        for (index, verdict) in verdicts.enumerated() {
            if index < byEntitlement.count {
                byEntitlement[index].offer(customer, verdict)
            } else {
                promisedOnly[verdict.entitlement, default: EntitlementTally()].offer(customer, verdict)
            }
        }
    }

    /// Adds the customers of another tally of the same comparison.
    package mutating func add(_ other: Tally) {
        customers += other.customers
        gaining += other.gaining
        losing += other.losing
        losingWithPromises += other.losingWithPromises
        changed += other.changed
        changingReason += other.changingReason
        heldByPromise += other.heldByPromise
        contradicting += other.contradicting
        productsWithoutEntitlement.merge(other.productsWithoutEntitlement, uniquingKeysWith: +)
        for index in byEntitlement.indices where other.byEntitlement.indices.contains(index) {
            byEntitlement[index].add(other.byEntitlement[index])
        }
        for (name, more) in other.promisedOnly {
            promisedOnly[name, default: EntitlementTally()].add(more)
        }
        cells.add(other.cells)
    }
}

extension Comparison {
    /// Judges a customer and counts the result.
    package func count(
        _ evidence: Evidence, id: String, exportedID: String? = nil, promises: [Promise] = [], in tally: inout Tally
    ) {
        tally.add(
            RehearsedCustomer(id: id, exportedID: exportedID, evidence), judgment(on: evidence, promises: promises))
    }
}
