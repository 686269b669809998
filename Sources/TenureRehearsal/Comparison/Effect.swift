import Foundation
import TenureCore

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
    /// app was paid, or free). True even if no decision depends on them.
    let hasContradictingProofs: Bool
    /// The IDs of products that the customer bought, and that no entitlement of the new policy lists. Consumables are
    /// left out. Sorted.
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
