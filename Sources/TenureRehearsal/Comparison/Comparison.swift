package import Foundation
package import TenureCore

/// The two policies that a rehearsal (a dry run of a policy over real customers) compares, and the date of all
/// decisions.
///
/// The functions read no clock and throw no error. The same evidence, in any order, has the same effects.
package struct Comparison: Sendable {
    /// The policy that is rehearsed.
    package let new: Policy
    /// The earlier policy to compare with. If nil, no customer gains or loses anything.
    let old: Policy?
    /// The date for which all decisions are made.
    package let instant: Date
    /// The names of the new policy's entitlements in its order, then the names that only the old policy has.
    let entitlements: [String]
    /// The product IDs that entitlements of the new policy list.
    let listedProducts: Set<String>

    package init(of new: Policy, against old: Policy? = nil, at instant: Date) {
        self.new = new
        self.old = old
        self.instant = instant
        listedProducts = Set(new.entitlements.flatMap { $0.products.map(\.id) })
        let names = new.entitlements.map(\.name)
        entitlements = names + (old?.entitlements.map(\.name) ?? []).filter { !names.contains($0) }
    }

    /// Decides for a customer under both policies. Returns one effect for each entitlement, in the order of
    /// `entitlements`, then one for each entitlement that the customer was promised, and that neither policy has.
    ///
    /// - Parameters:
    ///   - promises: the customer's promises that apply today. A promise is a recorded right that a policy can't take.
    ///   - kept: the promises that would apply under the new policy; nil if all of `promises` would. Publishing a
    ///     policy may end some promises.
    func effects(on evidence: Evidence, promises: [Promise] = [], keeping kept: [Promise]? = nil) -> [Effect] {
        let after = decide(evidence, promises: kept ?? promises, under: new, at: instant)
        guard let old else { return after.map { Effect(entitlement: $0.entitlement, now: Answer($0), before: nil) } }
        let before = decide(evidence, promises: promises, under: old, at: instant)
        var names = entitlements
        // Entitlements that are only in promises come after the entitlements of the policies.
        if after.count > new.entitlements.count || before.count > old.entitlements.count {
            names += Set((after + before).map(\.entitlement)).subtracting(entitlements).sorted()
        }
        return names.enumerated().map { index, name in
            effect(
                on: name, now: Self.decision(on: name, expectedAt: index, in: after),
                before: Self.decision(on: name, expectedAt: index, in: before))
        }
    }

    /// Returns the effect on one entitlement. A nil decision means that the policy doesn't have the entitlement, and so
    /// denies it.
    private func effect(on name: String, now: Decision?, before: Decision?) -> Effect {
        let answers = (before: before.map(Answer.init) ?? .notInPolicy, now: now.map(Answer.init) ?? .notInPolicy)
        let isLost = Change(from: answers.before, to: answers.now) == .loses
        return Effect(
            entitlement: name, now: answers.now, before: answers.before,
            removedProduct: isLost ? before.flatMap(removedProduct) : nil)
    }

    /// Returns the ID of the product that granted the right under the old policy, if the new policy no longer lists
    /// this product for the entitlement. Nil if the right was lost for another reason.
    private func removedProduct(granting decision: Decision) -> String? {
        guard let reason = decision.leadingReason, [.product, .gracePeriod].contains(reason.codeValue),
            let entitlement = new.entitlement(named: decision.entitlement)
        else { return nil }
        var product: String?
        reason.forEachFact { name, fact in
            if name == "product", case .text(let id) = fact { product = id }
        }
        return product.flatMap { id in entitlement.products.contains { $0.id == id } ? nil : id }
    }

    /// Returns the decision on an entitlement; nil if the policy doesn't have it.
    ///
    /// - Parameter index: the index at which the decision probably is.
    private static func decision(on name: String, expectedAt index: Int, in decisions: [Decision]) -> Decision? {
        // Versions of a policy usually have the same entitlements in the same order, so this rarely searches.
        if decisions.indices.contains(index), decisions[index].entitlement == name { return decisions[index] }
        return decisions.first { $0.entitlement == name }
    }

    /// Decides for a customer under both policies. All kinds of rehearsals call this method: for a file, for a
    /// database, and before a publication.
    ///
    /// - Parameters:
    ///   - promises: the customer's promises that apply today.
    ///   - restored: ended promises that would apply again under the new policy, as after a rollback.
    package func customerEffects(
        on evidence: Evidence, promises: [Promise] = [], restored: [Promise] = []
    ) -> CustomerEffects {
        // First decide as if the new policy ended all promises that apply today. Without an old policy, it keeps them.
        let kept = old == nil ? promises + restored : restored
        var ifPromisesEnd = effects(on: evidence, promises: promises, keeping: kept)
        var ifPromisesAreKept = ifPromisesEnd
        // Promises matter only if the customer would otherwise lose something, and nearly all customers lose nothing.
        if let old, !promises.isEmpty, ifPromisesEnd.contains(where: { $0.change == .loses }) {
            let grantedByOld = Set(
                decide(evidence, under: old, at: instant).filter { $0.outcome == .granted }.map(\.entitlement))
            let fromEarlierPolicies = promises.filter { !grantedByOld.contains($0.entitlement) }
            ifPromisesEnd = effects(on: evidence, promises: promises, keeping: fromEarlierPolicies + restored)
            ifPromisesAreKept = effects(on: evidence, promises: promises, keeping: promises + restored)
        }
        return CustomerEffects(
            ifPromisesEnd: ifPromisesEnd, ifPromisesAreKept: ifPromisesAreKept,
            hasContradictingProofs: evidence.hasContradictingProofs(under: new),
            productsWithoutEntitlement: productsWithoutEntitlement(in: evidence))
    }

    /// Returns the IDs of products that were bought and that no entitlement of the new policy lists.
    private func productsWithoutEntitlement(in evidence: Evidence) -> [String] {
        guard !evidence.purchases.isEmpty else { return [] }
        let purchases = evidence.purchases.filter { $0.type != .consumable && !listedProducts.contains($0.productID) }
        return Set(purchases.map(\.productID)).sorted()
    }
}
