import TenureCore

/// All counts of a rehearsal (a dry run of a policy over real customers), with limited memory.
///
/// The tallies of parts of the input can be added in any order, and their sum equals the tally of the whole input.
package struct Tally: Sendable, Hashable {
    /// The names of the entitlements of both policies, in the order of `Comparison.entitlements`.
    package let entitlements: [String]
    /// The counts of each entitlement, in the order of `entitlements`.
    package private(set) var byEntitlement: [EntitlementTally]
    /// The counts of entitlements that customers were promised, and that neither policy has, by name. A promise is a
    /// right that the service recorded, so that later policies can't take it.
    package private(set) var promisedOnly: [String: EntitlementTally] = [:]
    /// The counts by platform, version and month.
    private(set) var cells: Cells

    /// The number of all customers.
    package private(set) var customers = 0
    /// The number of customers who gain an entitlement. Some of them may also lose another entitlement.
    package private(set) var gaining = 0
    /// The number of customers who lose an entitlement if the new policy ends promises.
    package private(set) var losing = 0
    /// The number of customers who lose an entitlement even if all promises are kept.
    package private(set) var losingWithPromises = 0
    /// The number of customers with another outcome or another end of a right, including those who gain or lose.
    private(set) var changed = 0
    /// The number of customers with only another reason, who aren't counted in `changed`.
    private(set) var changingReason = 0
    /// The number of customers who have an entitlement only because of a promise.
    private(set) var heldByPromise = 0
    /// The number of customers with a version and a purchase date that prove different eras (`Era`), even if the
    /// decisions have another reason.
    package private(set) var contradicting = 0
    /// How many customers bought each product that no entitlement of the new policy lists, by product ID.
    package private(set) var productsWithoutEntitlement: [String: Int] = [:]

    package init(for comparison: Comparison) { self.init(entitlements: comparison.entitlements) }

    init(entitlements: [String], cellCapacity: Int = Cells.standardCapacity) {
        self.entitlements = entitlements
        byEntitlement = entitlements.map { _ in EntitlementTally() }
        cells = Cells(capacity: cellCapacity)
    }

    /// Counts a customer.
    package mutating func add(_ customer: RehearsedCustomer, _ customerEffects: CustomerEffects) {
        add(customerEffects, in: customer.place, times: 1)
        offer(customer, customerEffects.ifPromisesEnd)
    }

    /// Counts several customers with the same effects and the same place (platform, version and month of getting the
    /// app).
    ///
    /// - Parameter times: the number of customers.
    mutating func add(_ customerEffects: CustomerEffects, in place: Place, times: Int) {
        let effects = customerEffects.ifPromisesEnd
        customers += times
        if customerEffects.hasContradictingProofs { contradicting += times }
        if customerEffects.losesDespitePromises { losingWithPromises += times }
        for product in customerEffects.productsWithoutEntitlement {
            productsWithoutEntitlement[product, default: 0] += times
        }
        let changes = effects.map(\.change)
        for (index, effect) in effects.enumerated() {
            if index < byEntitlement.count {
                byEntitlement[index].add(effect, change: changes[index], in: place, times: times)
            } else {
                promisedOnly[effect.entitlement, default: EntitlementTally()]
                    .add(effect, change: changes[index], in: place, times: times)
            }
        }
        // A customer who gains one entitlement and loses another is counted in both numbers.
        if changes.contains(.gains) { gaining += times }
        if changes.contains(.loses) { losing += times }
        if changes.contains(where: { $0?.isOfOutcome == true }) {
            changed += times
        } else if changes.contains(.changesReason) {
            changingReason += times
        }
        if effects.contains(where: \.now.isPromised) { heldByPromise += times }
        let counted = min(effects.count, byEntitlement.count)
        cells.add(place) { counts in
            while counts.count < counted { counts.append(Counts()) }
            for index in 0..<counted { counts[index].add(effects[index], change: changes[index], times: times) }
        }
    }

    /// Keeps a counted customer as an example if the rank of the customer is low enough (`Examples`).
    mutating func offer(_ customer: RehearsedCustomer, _ effects: [Effect]) {
        for (index, effect) in effects.enumerated() {
            if index < byEntitlement.count {
                byEntitlement[index].offer(customer, effect)
            } else {
                promisedOnly[effect.entitlement, default: EntitlementTally()].offer(customer, effect)
            }
        }
    }

    /// Adds the customers of another tally of the same comparison.
    mutating func add(_ other: Tally) {
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
    /// Decides for a customer and counts the result.
    func count(
        _ evidence: Evidence, id: String, exportedID: String? = nil, promises: [Promise] = [], in tally: inout Tally
    ) {
        tally.add(
            RehearsedCustomer(id: id, exportedID: exportedID, evidence),
            customerEffects(on: evidence, promises: promises))
    }
}
