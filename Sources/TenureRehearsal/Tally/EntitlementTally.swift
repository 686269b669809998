package import TenureCore

/// The counts of one entitlement.
package struct EntitlementTally: Sendable, Hashable {
    package private(set) var counts = Counts()
    /// By outcome and deciding reason under the new policy.
    package private(set) var reasons: [OutcomeReason: Int] = [:]
    /// By the answers before and after, for customers with a change.
    package private(set) var transitions: [Transition: Int] = [:]
    /// By class: the same ones in any order of customers.
    package private(set) var examples: [ExampleClass: Examples] = [:]
    /// Customers who lose it, by cause.
    package private(set) var losses: [LossCause: LossGroup] = [:]

    package struct OutcomeReason: Sendable, Hashable {
        package let outcome: Decision.Outcome
        package let reason: Reason.Code?

        package init(_ answer: Answer) {
            outcome = answer.outcome
            reason = answer.reason
        }
    }

    package struct Transition: Sendable, Hashable {
        package let change: Change
        package let before: OutcomeReason
        package let now: OutcomeReason
    }

    package init() {}

    mutating func add(_ verdict: Verdict, changing change: Change?, in place: Place, times: Int) {
        counts.add(verdict, changing: change, times: times)
        reasons[OutcomeReason(verdict.now), default: 0] += times
        guard let change, change != .same, let before = verdict.before else { return }
        let transition = Transition(change: change, before: OutcomeReason(before), now: OutcomeReason(verdict.now))
        transitions[transition, default: 0] += times
        if let cause = LossCause(verdict, on: place.platform) {
            losses[cause, default: LossGroup()].add(place, times: times)
        }
    }

    /// As an example, if there is room.
    mutating func offer(_ customer: RehearsedCustomer, _ verdict: Verdict) {
        for kind in verdict.classes { offer(customer, verdict, as: kind) }
        if let cause = LossCause(verdict, on: customer.place.platform) {
            losses[cause, default: LossGroup()].offer(customer, verdict)
        }
    }

    private mutating func offer(_ customer: RehearsedCustomer, _ verdict: Verdict, as kind: ExampleClass) {
        // Few customers are examples, so that is checked before one is made.
        if let examples = examples[kind], !examples.admits(customer) { return }
        examples[kind, default: Examples(limit: kind.limit)].offer(Example(customer, verdict))
    }

    package mutating func add(_ other: EntitlementTally) {
        counts.add(other.counts)
        reasons.merge(other.reasons, uniquingKeysWith: +)
        transitions.merge(other.transitions, uniquingKeysWith: +)
        for (kind, more) in other.examples { examples[kind, default: Examples(limit: kind.limit)].add(more) }
        for (cause, more) in other.losses { losses[cause, default: LossGroup()].add(more) }
    }
}

extension Verdict {
    /// The examples that its customer can be.
    var classes: [ExampleClass] {
        let outcome = ExampleClass.outcome(now.outcome)
        guard let change, change != .same else { return [outcome] }
        return [.change(change), outcome]
    }
}

/// The examples that a customer is.
package enum ExampleClass: Sendable, Hashable {
    case outcome(Decision.Outcome)
    case change(Change)

    /// Of customers who lose, a list that a person works through; of others, a few to look at.
    package var limit: Int { self == .change(.loses) ? 100 : 10 }
}
