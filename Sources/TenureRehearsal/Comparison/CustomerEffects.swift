package import TenureCore

/// What a new policy would change for one customer. A rehearsal (a dry run of a policy) counts these effects over all
/// customers.
///
/// A publication may end promises or keep them. A promise is a right that the service recorded for a customer, so that
/// later policies can't take it. So there are two lists of effects.
package struct CustomerEffects: Sendable, Hashable {
    /// The effects if the new policy ends promises. It ends a promise only if the old policy grants the entitlement to
    /// the customer even without the promise. It keeps all other promises, and promises that a rollback restores.
    /// Without an old policy, all promises are kept.
    ///
    /// For example, version 1 of the policy granted `cloud`, version 2 doesn't, and a promise keeps it for the
    /// customer. Version 3 doesn't end this promise, because version 2 had taken the right, and not version 3.
    package let ifPromisesEnd: [Effect]
    /// The effects if every promise is kept.
    package let ifPromisesAreKept: [Effect]
    /// Whether the version and the date with which the customer got the app prove different eras (periods in which the
    /// app was paid, or free). Also true if the decisions have another reason.
    let hasContradictingProofs: Bool
    /// The IDs of products that the customer bought and no entitlement of the new policy lists. Consumables are left
    /// out. Sorted.
    let productsWithoutEntitlement: [String]

    /// Whether the customer loses an entitlement even if every promise is kept.
    var losesDespitePromises: Bool { ifPromisesAreKept.contains { $0.change == .loses } }
}

extension Comparison {
    /// Decides for a customer under both policies. All kinds of rehearsals call this method: for a file, for a
    /// database, and before a publication.
    ///
    /// - Parameters:
    ///   - promises: the customer's promises that apply today.
    ///   - restored: ended promises that would apply again under the new policy, as after a rollback.
    package func customerEffects(
        on evidence: Evidence, promises: [Promise] = [], restored: [Promise] = []
    ) -> CustomerEffects {
        let (ifPromisesEnd, ifPromisesAreKept) = effects(on: evidence, promises: promises, restored: restored)
        return CustomerEffects(
            ifPromisesEnd: ifPromisesEnd, ifPromisesAreKept: ifPromisesAreKept,
            hasContradictingProofs: evidence.hasContradictingProofs(under: new),
            productsWithoutEntitlement: productsWithoutEntitlement(in: evidence))
    }

    /// Returns the effects if promises end, and the effects if promises are kept.
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

    /// Returns the IDs of products that were bought and that no entitlement of the new policy lists.
    private func productsWithoutEntitlement(in evidence: Evidence) -> [String] {
        guard !evidence.purchases.isEmpty else { return [] }
        let purchases = evidence.purchases.filter { $0.type != .consumable && !listedProducts.contains($0.productID) }
        return Set(purchases.map(\.productID)).sorted()
    }
}
