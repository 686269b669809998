package import TenureCore

/// What a rehearsal (a dry run of a policy) counts about one entitlement over all customers.
package struct EntitlementTally: Sendable, Hashable {
    /// The numbers of customers by outcome and by change.
    package private(set) var counts = Counts()
    /// The numbers of customers by outcome and deciding reason under the new policy.
    private(set) var reasons: [Answer: Int] = [:]
    /// The numbers of customers with a change, by outcome and reason under the old and the new policy.
    private(set) var transitions: [Transition: Int] = [:]
    /// Some customers of each class as examples. The order in which customers are counted doesn't affect the choice.
    package private(set) var examples: [ExampleClass: Examples] = [:]
    /// The customers who lose the entitlement, by cause.
    private(set) var losses: [LossCause: LossGroup] = [:]

    /// A change from the answer under the old policy to another answer under the new one.
    struct Transition: Sendable, Hashable {
        let change: Change
        let before: Answer
        let now: Answer
    }

    /// Counts customers with the same effect and the same place (platform, version and month of getting the app).
    ///
    /// - Parameter times: the number of customers.
    mutating func add(_ effect: Effect, change: Change?, in place: Place, times: Int) {
        counts.add(effect, change: change, times: times)
        reasons[effect.now.withoutEnd, default: 0] += times
        guard let change, change != .same, let before = effect.before else { return }
        let transition = Transition(change: change, before: before.withoutEnd, now: effect.now.withoutEnd)
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

    /// The outcomes with their reasons, the most frequent first.
    var sortedReasons: [(key: Answer, count: Int)] {
        reasons.map { (key: $0.key, count: $0.value) }
            .sorted(byCount: \.count) { "\($0.key.outcome) \($0.key.reason.name)" }
    }

    /// The causes of losses, the most frequent first.
    var sortedLosses: [(cause: LossCause, group: LossGroup)] {
        func order(_ cause: LossCause) -> String {
            "\(cause.platform?.rawValue ?? "") \(cause.before.reason.name) \(cause.now.outcome) \(cause.now.reason.name) \(cause.isOfRemovedProduct)"
        }
        return losses.map { (cause: $0.key, group: $0.value) }.sorted(byCount: \.group.count) { order($0.cause) }
    }

    /// The changes in the order of `Change.inReports`, so losses first. Changes of one kind: the most frequent first.
    var sortedTransitions: [(key: Transition, count: Int)] {
        func order(_ transition: Transition) -> String {
            "\(transition.before.outcome) \(transition.before.reason.name) \(transition.now.outcome) \(transition.now.reason.name)"
        }
        let byCount = transitions.map { (key: $0.key, count: $0.value) }.sorted(byCount: \.count) { order($0.key) }
        return Change.inReports.flatMap { change in byCount.filter { $0.key.change == change } }
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

    /// All classes that reports show, the most important first.
    static let all: [ExampleClass] =
        Change.inReports.map(ExampleClass.change)
        + [Decision.Outcome.denied, .undetermined, .granted].map(ExampleClass.outcome)

    /// The name of the class in JSON.
    var name: String {
        switch self {
        case .outcome(let outcome): outcome.rawValue
        case .change(let change): change.rawValue
        }
    }
}
