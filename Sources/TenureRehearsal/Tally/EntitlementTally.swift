package import TenureCore

/// The counts of one entitlement.
package struct EntitlementTally: Sendable, Hashable {
    package private(set) var counts = Counts()
    /// Customers by outcome and deciding reason under the new policy.
    private(set) var reasons: [OutcomeReason: Int] = [:]
    /// Customers with a change, by the answers before and after.
    private(set) var transitions: [Transition: Int] = [:]
    /// Some customers of each class. The order in which customers are counted doesn't affect them.
    package private(set) var examples: [ExampleClass: Examples] = [:]
    /// Customers who lose the entitlement, by cause.
    private(set) var losses: [LossCause: LossGroup] = [:]

    /// An answer without its end, as reports count it.
    struct OutcomeReason: Sendable, Hashable {
        let outcome: Decision.Outcome
        let reason: Reason.Code?

        init(_ answer: Answer) {
            outcome = answer.outcome
            reason = answer.reason
        }
    }

    /// A change from one answer to another.
    struct Transition: Sendable, Hashable {
        let change: Change
        let before: OutcomeReason
        let now: OutcomeReason
    }

    /// Counts customers with the same verdict and the same place.
    mutating func add(_ verdict: Verdict, changing change: Change?, in place: Place, times: Int) {
        counts.add(verdict, changing: change, times: times)
        reasons[OutcomeReason(verdict.now), default: 0] += times
        guard let change, change != .same, let before = verdict.before else { return }
        let transition = Transition(change: change, before: OutcomeReason(before), now: OutcomeReason(verdict.now))
        transitions[transition, default: 0] += times
        if let cause = LossCause(verdict, on: place.platform) {
            losses[cause, default: LossGroup()].add(place, removing: verdict.removedProduct, times: times)
        }
    }

    /// Keeps the customer as an example if there is room.
    mutating func offer(_ customer: RehearsedCustomer, _ verdict: Verdict) {
        for kind in verdict.classes { offer(customer, verdict, as: kind) }
        if let cause = LossCause(verdict, on: customer.place.platform) {
            losses[cause, default: LossGroup()].offer(customer, verdict)
        }
    }

    private mutating func offer(_ customer: RehearsedCustomer, _ verdict: Verdict, as kind: ExampleClass) {
        // Few customers become examples, so this checks for room before it creates one.
        if let examples = examples[kind], !examples.admits(customer) { return }
        examples[kind, default: Examples(limit: kind.limit)].offer(Example(customer, verdict))
    }

    mutating func add(_ other: EntitlementTally) {
        counts.add(other.counts)
        reasons.merge(other.reasons, uniquingKeysWith: +)
        transitions.merge(other.transitions, uniquingKeysWith: +)
        for (kind, more) in other.examples { examples[kind, default: Examples(limit: kind.limit)].add(more) }
        for (cause, more) in other.losses { losses[cause, default: LossGroup()].add(more) }
    }
}

extension Verdict {
    /// The classes of examples that the customer can join.
    var classes: [ExampleClass] {
        let outcome = ExampleClass.outcome(now.outcome)
        guard let change, change != .same else { return [outcome] }
        return [.change(change), outcome]
    }
}

/// A class of customers of whom the report shows some as examples: those with an outcome, or with a change.
package enum ExampleClass: Sendable, Hashable {
    case outcome(Decision.Outcome)
    case change(Change)

    /// The maximum number of examples of the class. It is higher for losses, because developers check them one by one.
    var limit: Int { self == .change(.loses) ? 100 : 10 }
}
