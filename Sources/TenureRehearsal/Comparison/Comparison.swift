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
    /// `entitlements`, then one effect for each entitlement that neither policy has and the customer was promised.
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
        // Decide under the new policy without the promises that apply today. Without an old policy, all are kept.
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

/// How replacing the old policy by the new one affects one customer's right to one entitlement.
package struct Effect: Sendable, Hashable {
    /// The name of the entitlement.
    package let entitlement: String
    /// The answer under the new policy.
    package let now: Answer
    /// The answer under the old policy; nil if there is no old policy.
    package let before: Answer?
    /// The ID of the product that granted a lost right, if the new policy no longer lists it for the entitlement;
    /// otherwise nil.
    var removedProduct: String?

    /// The difference between `before` and `now`; nil if there is no old policy.
    package var change: Change? { before.map { Change(from: $0, to: now) } }

    /// The classes of examples that the customer can join.
    var classes: [ExampleClass] {
        let outcome = ExampleClass.outcome(now.outcome)
        guard let change, change != .same else { return [outcome] }
        return [.change(change), outcome]
    }
}

/// How the answer under the new policy differs from the answer under the old policy. A right that becomes undetermined
/// is lost.
package enum Change: String, Sendable, Hashable, CaseIterable {
    /// Granted now and not before, or granted for longer.
    case gains
    /// Granted before and not now, or not for as long.
    case loses
    /// Denied instead of undetermined, or the reverse. This is neither a gain nor a loss.
    case changesOutcome
    /// The same outcome for another reason.
    case changesReason
    /// The same outcome, end and reason.
    case same

    init(from before: Answer, to now: Answer) {
        switch (before.outcome == .granted, now.outcome == .granted) {
        case (false, true): self = .gains
        case (true, false): self = .loses
        case (true, true) where before.until != now.until:
            self = (now.until ?? .distantFuture) > (before.until ?? .distantFuture) ? .gains : .loses
        case _ where before == now: self = .same
        default: self = before.outcome == now.outcome ? .changesReason : .changesOutcome
        }
    }

    /// Whether the outcome or the end of the right differs. False if only the reason differs.
    var isOfOutcome: Bool { self != .changesReason && self != .same }

    /// The kinds of change that reports show, the most important one first.
    static let inReports: [Change] = [.loses, .gains, .changesOutcome, .changesReason]
    /// The position of this change in reports.
    var order: Int { Self.inReports.firstIndex(of: self) ?? Self.inReports.count }

    /// The label of a row in the report for a terminal.
    var phrase: String {
        switch self {
        case .gains: "gain"
        case .loses: "lose"
        case .changesOutcome: "other outcome"
        case .changesReason: "other reason"
        case .same: "as before"
        }
    }
}

/// What a policy decides about one entitlement of one customer: the parts of a decision that a rehearsal (a dry run of
/// a policy) counts.
package struct Answer: Sendable, Hashable {
    /// Whether the entitlement is granted, denied or undetermined.
    package let outcome: Decision.Outcome
    /// When a granted right ends; nil if it is permanent.
    package let until: Date?
    /// The deciding reason's code; nil if the policy doesn't have the entitlement.
    package let reason: Reason.Code?

    init(_ outcome: Decision.Outcome, until: Date? = nil, reason: Reason.Code?) {
        self.outcome = outcome
        self.until = until
        self.reason = reason
    }

    init(_ decision: Decision) {
        self.init(decision.outcome, until: decision.until, reason: decision.leadingReason?.codeValue)
    }

    /// The answer of a policy that doesn't have the entitlement.
    static let notInPolicy = Answer(.denied, reason: nil)

    /// The same outcome and reason. Reports count customers by these, and not by when a right ends.
    var withoutEnd: Answer { Answer(outcome, reason: reason) }

    /// The reason in reports: a code of `Reason`, or `notInPolicy`.
    package var reasonName: String { reason.name }

    /// Whether only a promise grants the right. A promise is a right that the service recorded, so that later policies
    /// can't take it.
    var isPromised: Bool { outcome == .granted && reason == .promise }
}

extension Reason.Code? {
    /// The reason in reports: its code, or `notInPolicy` if the policy doesn't have the entitlement.
    package var name: String { self?.rawValue ?? "notInPolicy" }

    /// The meaning of a deciding reason, for readers of a report who don't know the codes. It continues a sentence
    /// about a customer, and “it” is the entitlement.
    var phrase: String {
        guard let self else { return "the policy doesn't have the entitlement" }
        switch self {
        case .eraHonored: return "got the app in an honored era"
        case .eraNotHonored: return "got the app in an era that isn't honored"
        case .inDoubt: return "can't tell whether an honored era applies, so `inDoubt` in the policy decides"
        case .noHonors: return "no era grants it"
        case .nothingToCompare: return "neither the version nor the date can be compared with the policy"
        case .noAcquisition: return "no evidence proves how the app was acquired"
        case .outsideWindow: return "got the app outside the purchase dates that the policy honors"
        case .windowNeedsDate: return "the policy honors certain purchase dates, and the customer's date isn't known"
        case .honorEnded: return "the right from the era has ended"
        case .endUnknown: return "the end of the right from the era isn't known"
        case .appRefunded: return "the app was refunded"
        case .boughtAgain: return "got the app again after a refund, in an honored era"
        case .boughtAgainInDoubt: return "got the app again after a refund, perhaps in an era that isn't honored"
        case .licenseEnded: return "a volume license has ended"
        case .product: return "has a purchase that grants it"
        case .gracePeriod: return "has a subscription in its grace period"
        case .supportGrant: return "support granted it"
        case .supportGrantEnded: return "the grant by support has ended"
        case .supportRevocation: return "support revoked it"
        case .promise: return "it was promised before"
        case .promiseEnded: return "a promise has ended"
        case .noPurchase: return "has no purchase that grants it"
        case .purchasesIncomplete: return "not all purchases are known"
        case .testEnvironment: return "comes from a test environment"
        default: return self.rawValue
        }
    }
}
