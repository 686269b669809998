package import TenureCore

/// The result of a comparison for one customer.
///
/// Every rehearsal uses `customerEffects`. So a file, a database and a publication give the same numbers.
package struct CustomerEffects: Sendable, Hashable {
    /// The effects if the new policy ends promises. It can end a promise only if the old policy grants the entitlement
    /// to the customer even without the promise. It keeps every other promise, and also every promise that a rollback
    /// restores. Without an old policy, every promise is kept.
    ///
    /// So the new policy isn't blamed for a right that an earlier policy took away. For example, version 1 of the policy
    /// granted `cloud`, version 2 doesn't, and a promise keeps it for the customer. Version 3 doesn't end this promise.
    package let ifPromisesEnd: [Effect]
    /// The effects if every promise is kept.
    package let ifPromisesAreKept: [Effect]
    /// Whether the version and the date of an acquisition prove different eras, even if another reason decides.
    let hasContradictingProofs: Bool
    /// IDs of purchased products that no entitlement of the new policy lists, without consumables. Sorted.
    let productsWithoutEntitlement: [String]

    /// Whether the customer loses an entitlement even if every promise is kept.
    var losesDespitePromises: Bool { ifPromisesAreKept.contains { $0.change == .loses } }
}

extension Comparison {
    /// Decides for a customer under both policies.
    ///
    /// - Parameters:
    ///   - promises: the promises that apply today.
    ///   - restored: the promises that would apply again, as after a rollback.
    package func customerEffects(
        on evidence: Evidence, promises: [Promise] = [], restored: [Promise] = []
    ) -> CustomerEffects {
        let (ifPromisesEnd, ifPromisesAreKept) = effects(on: evidence, promises: promises, restored: restored)
        return CustomerEffects(
            ifPromisesEnd: ifPromisesEnd, ifPromisesAreKept: ifPromisesAreKept,
            hasContradictingProofs: evidence.hasContradictingProofs(under: new),
            productsWithoutEntitlement: productsWithoutEntitlement(in: evidence))
    }

    /// Returns the effects for `ifPromisesEnd` and `ifPromisesAreKept`.
    private func effects(
        on evidence: Evidence, promises: [Promise], restored: [Promise]
    ) -> (ifPromisesEnd: [Effect], ifPromisesAreKept: [Effect]) {
        guard let old else {
            let effects = effects(on: evidence, promises: promises + restored)
            return (effects, effects)
        }
        // Decide under the new policy without the promises that apply today.
        let withoutPromises = effects(on: evidence, promises: promises, keeping: restored)
        // Promises matter only if the customer would otherwise lose something. Nearly all customers lose nothing, so
        // return early.
        guard !promises.isEmpty, withoutPromises.contains(where: { $0.change == .loses }) else {
            return (withoutPromises, withoutPromises)
        }
        let grantedByOld = Set(
            decide(evidence, under: old, at: instant).filter { $0.outcome == .granted }.map(\.entitlement))
        let fromEarlierPolicies = promises.filter { !grantedByOld.contains($0.entitlement) }
        return (
            effects(on: evidence, promises: promises, keeping: fromEarlierPolicies + restored),
            effects(on: evidence, promises: promises, keeping: promises + restored)
        )
    }

    /// Returns the value of `CustomerEffects.productsWithoutEntitlement`.
    private func productsWithoutEntitlement(in evidence: Evidence) -> [String] {
        guard !evidence.purchases.isEmpty else { return [] }
        let purchases = evidence.purchases.filter { $0.type != .consumable && !listedProducts.contains($0.productID) }
        return Set(purchases.map(\.productID)).sorted()
    }
}
