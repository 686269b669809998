package import TenureCore

/// What a rehearsal counts about one entitlement over all customers.
package struct EntitlementTally: Sendable, Hashable {
    /// The numbers of customers by outcome and by change.
    package private(set) var counts = Counts()
    /// The numbers of customers by outcome and deciding reason under the new policy.
    private(set) var reasons: [OutcomeReason: Int] = [:]
    /// The numbers of customers with a change, by outcome and reason under the old and the new policy.
    private(set) var transitions: [Transition: Int] = [:]
    /// Some customers of each class as examples. The order in which customers are counted doesn't affect the choice.
    package private(set) var examples: [ExampleClass: Examples] = [:]
    /// The customers who lose the entitlement, by cause.
    private(set) var losses: [LossCause: LossGroup] = [:]

    /// An outcome with its deciding reason.
    struct OutcomeReason: Sendable, Hashable {
        let outcome: Decision.Outcome
        let reason: Reason.Code?

        init(_ answer: Answer) {
            outcome = answer.outcome
            reason = answer.reason
        }
    }

    /// A change from the answer under the old policy to another answer under the new one.
    struct Transition: Sendable, Hashable {
        let change: Change
        let before: OutcomeReason
        let now: OutcomeReason
    }

    /// Counts customers with the same effect and the same place (platform, version and month of getting the app).
    ///
    /// - Parameter times: the number of customers.
    mutating func add(_ effect: Effect, change: Change?, in place: Place, times: Int) {
        counts.add(effect, change: change, times: times)
        reasons[OutcomeReason(effect.now), default: 0] += times
        guard let change, change != .same, let before = effect.before else { return }
        let transition = Transition(change: change, before: OutcomeReason(before), now: OutcomeReason(effect.now))
        transitions[transition, default: 0] += times
        if let cause = LossCause(effect, on: place.platform) {
            losses[cause, default: LossGroup()].add(place, removing: effect.removedProduct, times: times)
        }
    }

    /// Keeps the customer as an example if the rank of the customer is low enough (`Examples`).
    mutating func offer(_ customer: RehearsedCustomer, _ effect: Effect) {
        for kind in effect.classes {
            // Few customers become examples, so this checks for room before it creates one.
            if let examples = examples[kind], !examples.admits(customer) { continue }
            examples[kind, default: Examples(limit: kind.limit)].offer(
                Example(customer: customer, now: effect.now, before: effect.before))
        }
        if let cause = LossCause(effect, on: customer.place.platform) {
            losses[cause, default: LossGroup()].offer(customer, effect)
        }
    }

    mutating func add(_ other: EntitlementTally) {
        counts.add(other.counts)
        reasons.merge(other.reasons, uniquingKeysWith: +)
        transitions.merge(other.transitions, uniquingKeysWith: +)
        for (kind, more) in other.examples { examples[kind, default: Examples(limit: kind.limit)].add(more) }
        for (cause, more) in other.losses { losses[cause, default: LossGroup()].add(more) }
    }
}

extension Effect {
    /// The classes of examples that the customer can join.
    var classes: [ExampleClass] {
        let outcome = ExampleClass.outcome(now.outcome)
        guard let change, change != .same else { return [outcome] }
        return [.change(change), outcome]
    }
}

/// A class of customers of whom the report shows some as examples: those with a certain outcome, or with a certain
/// change.
package enum ExampleClass: Sendable, Hashable {
    case outcome(Decision.Outcome)
    case change(Change)

    /// The maximum number of examples of the class. The number is higher for losses, because developers check losses
    /// one by one.
    var limit: Int { self == .change(.loses) ? 100 : 10 }
}
