import Foundation
import TenureCore
import TenurePolicyFile

/// Reads the timeline of a scenario: what happens, and what is expected.
extension ScenarioReader {
    /// Reads all steps.
    ///
    /// - Parameters:
    ///   - customers: the names that steps may use.
    ///   - begins: the time at which the scenario begins; nil if it couldn't be read.
    mutating func timeline(_ part: Part, customers: [String], begins: Date?) -> [Scenario.Step] {
        var earlier = begins
        return list(part, example: "- at: 2014-05-01").compactMap { step($0, customers: customers, earlier: &earlier) }
    }

    /// Reads one step.
    ///
    /// - Parameter earlier: the time of the previous step; nil if it isn't known. Becomes the time of this step.
    private mutating func step(_ part: Part, customers: [String], earlier: inout Date?) -> Scenario.Step? {
        // Reports unknown keys. Nil if the part isn't a mapping.
        guard Fields(part, keys: ScenarioShape.step.keys + customers, &reading) != nil else { return nil }
        var time: Scenario.Step.Time?
        var timeCount = 0
        var events: [Scenario.Event] = []
        guard case .mapping(let entries) = part.node.content else { return nil }
        for entry in entries {
            let item = Part(entry, under: part.path)
            switch entry.key {
            case "at":
                timeCount += 1
                guard let date = item.dayOrInstant(&reading) else { continue }
                if let earlier, date < earlier {
                    reading.report(
                        "`at` is before the time of the step above, or before `begins`; write a later instant",
                        at: item.position)
                }
                earlier = date
                time = .at(date)
            case "after":
                timeCount += 1
                guard let seconds = item.duration(&reading, example: "31d") else { continue }
                if seconds < 0 {
                    reading.report("`after` can't be negative; write a length of time such as `31d`", at: item.position)
                }
                earlier = earlier?.addingTimeInterval(max(0, seconds))
                time = .after(max(0, seconds))
            case "store": events += operations(item, of: nil)
            case "service": if item.word(&reading, of: ServiceWord.self) != nil { events.append(.catchUp) }
            // `expect` opens the customer's app, which syncs. `known` only asks the service.
            case "expect", "known": events += expectations(item, customers, opensApp: entry.key == "expect")
            default: if customers.contains(entry.key) { events += operations(item, of: entry.key) }
            }
        }
        if timeCount != 1 { reading.report("a step needs one of `at: 2014-05-01` and `after: 31d`", at: part.position) }
        guard let time else { return nil }
        return Scenario.Step(time: time, events: events)
    }

    /// Reads `acquires`, `{ acquires: macOS }`, `{ buys: com.example.calculator.yearly, offer: comeback }`, or a list
    /// of such operations.
    private mutating func operations(_ part: Part, of customer: String?) -> [Scenario.Event] {
        if case .sequence = part.node.content {
            return list(part, example: "- buys: …").flatMap { operations($0, of: customer) }
        }
        // A word alone, such as `acquires`, has no values.
        let members: [(key: String, part: Part?)] =
            if let word = part.node.text {
                [(word, nil)]
            } else {
                entries(part, example: customer == nil ? "setsPrice: 4.99" : "acquires: iOS").map { ($0.key, $0.part) }
            }
        guard let first = members.first else { return [] }
        // The first key that names an operation determines the kind. The other keys are parameters.
        let isByCustomer = customer != nil
        let kinds = members.map { AppStoreOperation.Kind(scenarioWord: $0.key, byCustomer: isByCustomer) }
        guard let index = kinds.firstIndex(where: { $0 != nil }), let kind = kinds[index] else {
            let advice = Spelling.advice(for: first.key, among: AppStoreOperation.Kind.words(byCustomer: isByCustomer))
            let owner = isByCustomer ? "a customer" : "the store"
            reading.report("`\(first.key.shortened)` isn't an operation of \(owner); \(advice)", at: part.position)
            return []
        }
        let word = members[index].key
        var operation = AppStoreOperation(kind)
        if let customer { operation.parameters[.customer] = customer }
        for (key, member) in members {
            guard let member, let text = text(member, example: "…") else { continue }
            let name = key == word ? kind.mainParameter?.rawValue : key
            do throws(OperationMistake) {
                guard let name else { throw OperationMistake("`\(word)` takes no value; write `\(word)` alone") }
                try operation.set(name, to: text)
                // Check each value in a separate operation, so that its mistake is reported at its position.
                var alone = AppStoreOperation(kind)
                try alone.set(name, to: text)
                try alone.checkValues()
            } catch {
                reading.report(error.description, at: member.position)
            }
        }
        do throws(OperationMistake) {
            try operation.checkCompleteness()
        } catch {
            reading.report(error.description, at: part.position)
        }
        return [.operation(operation, position: part.position.description)]
    }

    /// Reads `{ Ada: { everything: granted } }`: the expected outcome by customer and entitlement.
    ///
    /// - Parameter opensApp: whether the customer's app is opened before the service decides.
    private mutating func expectations(_ part: Part, _ customers: [String], opensApp: Bool) -> [Scenario.Event] {
        var events: [Scenario.Event] = []
        for (name, expected) in entries(part, example: "expect: { Ada: { everything: granted } }") {
            guard customers.contains(name) else {
                reading.report(
                    "there is no customer `\(name.shortened)`; \(Spelling.advice(for: name, among: customers))",
                    at: expected.position)
                continue
            }
            for (entitlement, value) in entries(expected, example: "everything: granted") {
                guard let outcome = value.word(&reading, of: Decision.Outcome.self) else { continue }
                events.append(
                    .expect(
                        .init(
                            customer: name, entitlement: entitlement, outcome: outcome, opensApp: opensApp,
                            position: value.position.description)))
            }
        }
        return events
    }
}

/// The values of the key `service` of a step.
private enum ServiceWord: String, CaseIterable {
    case catchesUp
}
