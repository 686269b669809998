package import TenureCore

/// All that a rehearsal counts, in bounded memory.
///
/// Adding is associative and commutative: tallies of parts of a population, merged in any order, equal the tally of the
/// whole in any order.
package struct Tally: Sendable, Hashable {
    /// As the comparison names them.
    package let entitlements: [String]
    /// By the place in `entitlements`.
    package private(set) var byEntitlement: [EntitlementTally]
    /// Of entitlements that no policy of the comparison names, and a promise does.
    package private(set) var promisedOnly: [String: EntitlementTally] = [:]
    package private(set) var cells: Cells

    package private(set) var customers = 0
    /// Customers who gain some entitlement; they may lose another.
    package private(set) var gaining = 0
    /// Customers who lose some entitlement.
    package private(set) var losing = 0
    /// Customers who gain some entitlement or lose some.
    package private(set) var moving = 0
    /// Customers who neither gain nor lose, and of whom some reason changes.
    package private(set) var changingReason = 0
    /// Customers who have some entitlement only because it was promised.
    package private(set) var heldByPromise = 0

    package init(for comparison: Comparison) {
        self.init(entitlements: comparison.entitlements)
    }

    package init(entitlements: [String], cellCapacity: Int = Cells.standardCapacity) {
        self.entitlements = entitlements
        byEntitlement = entitlements.map { _ in EntitlementTally() }
        cells = Cells(capacity: cellCapacity)
    }

    /// Counts a customer, with the verdicts of this tally's comparison.
    package mutating func add(_ customer: RehearsedCustomer, _ verdicts: [Verdict]) {
        add(verdicts, in: customer.place, times: 1)
        offer(customer, verdicts)
    }

    /// Counts that many customers who have the same verdicts and stand in the same place.
    package mutating func add(_ verdicts: [Verdict], in place: Place, times: Int) {
        customers += times
        let changes = verdicts.map(\.change)
        for (index, verdict) in verdicts.enumerated() {
            if index < byEntitlement.count {
                byEntitlement[index].add(verdict, changing: changes[index], times: times)
            } else {
                promisedOnly[verdict.entitlement, default: EntitlementTally()]
                    .add(verdict, changing: changes[index], times: times)
            }
        }
        let gains = changes.contains(.gains)
        let loses = changes.contains(.loses)
        if gains { gaining += times }
        if loses { losing += times }
        if gains || loses { moving += times }
        if !gains, !loses, changes.contains(.changesReason) { changingReason += times }
        if verdicts.contains(where: \.now.isPromised) { heldByPromise += times }
        let counted = min(verdicts.count, byEntitlement.count)
        cells.add(place) { counts in
            while counts.count < counted { counts.append(Counts()) }
            for index in 0..<counted { counts[index].add(verdicts[index], changing: changes[index], times: times) }
        }
    }

    /// A customer who is counted already, as an example of what becomes of them.
    package mutating func offer(_ customer: RehearsedCustomer, _ verdicts: [Verdict]) {
        for (index, verdict) in verdicts.enumerated() {
            if index < byEntitlement.count {
                byEntitlement[index].offer(customer, verdict)
            } else {
                promisedOnly[verdict.entitlement, default: EntitlementTally()].offer(customer, verdict)
            }
        }
    }

    /// The same with the customers of another tally of the same comparison.
    package mutating func add(_ other: Tally) {
        customers += other.customers
        gaining += other.gaining
        losing += other.losing
        moving += other.moving
        changingReason += other.changingReason
        heldByPromise += other.heldByPromise
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
    /// Judges a customer and counts the verdicts.
    package func count(
        _ evidence: Evidence, id: String, exportedID: String? = nil, promises: [Promise] = [],
        keeping kept: [Promise]? = nil, in tally: inout Tally
    ) {
        tally.add(
            RehearsedCustomer(id: id, exportedID: exportedID, evidence),
            verdicts(on: evidence, promises: promises, keeping: kept))
    }
}
