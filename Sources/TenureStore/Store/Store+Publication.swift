import Foundation
import TenureCore

extension Store {
    /// Publishes a policy in one transaction, with verdicts on the customers that changed since the survey.
    ///
    /// Those on large customers, and their facts with other promises, are computed while others write. If more than
    /// `limit` customers changed, the result is `behind`.
    package func publish(
        _ request: RequestedPublication, after survey: PublicationSurvey, limit: Int = .max,
        evaluating evaluate: @escaping @Sendable (SurveyedCustomer) throws(StoreError) -> PublicationVerdict
    ) async throws(StoreError) -> PublicationOutcome {
        let largeFacts = LargeFacts()
        try await prepare(largeFacts, for: request, after: survey)
        return try await write(with: largeFacts, at: request.at, locking: [.policies]) { transaction in
            var draft: PublicationDraft
            switch try transaction.preparePublication(request, after: survey, limit: limit) {
            case .refused(let outcome): return outcome
            case .ready(let ready): draft = ready
            }
            for id in draft.changed {
                guard let surveyed = try transaction.changedCustomer(id, in: draft) else { continue }
                draft.update(surveyed, try largeFacts.verdict(on: surveyed, evaluate))
            }
            return try transaction.publish(draft)
        }
    }

    /// Adds the facts of the large customers with promises that end or apply again, as they are and as they will be.
    private func prepare(
        _ largeFacts: LargeFacts, for request: RequestedPublication, after survey: PublicationSurvey
    ) async throws(StoreError) {
        let restored = try await read(at: request.at) { try $0.restorablePromises(after: request.restoringAfter) }
        let ending = request.endsPromises ? survey.verdicts.mapValues(\.ending).filter { !$0.value.isEmpty } : [:]
        let settled = Set(ending.keys).union(restored.keys)
        for id in try await read(at: request.at, { try $0.largeCustomers(among: settled) }) {
            guard let known = try await read(at: request.at, { try $0.customer(id) }) else { continue }
            var facts = known.facts
            largeFacts.add(facts)
            facts.settlePromises(ending: ending[id] ?? [], restoring: restored[id] ?? [])
            largeFacts.add(facts)
        }
    }
}

extension CustomerFacts {
    /// Removes the promises that a publication ended, and adds the ones that it restored.
    mutating func settlePromises(ending: Set<String>, restoring: [StoredPromise]) {
        removePromises(of: ending)
        add(restoring)
    }
}

extension DatabaseTransaction {
    /// Returns those of the customers with large facts.
    func largeCustomers(among ids: Set<Int64>) throws(StoreError) -> [Int64] {
        try rows(
            """
            SELECT id FROM customers WHERE id IN \(DatabaseTable.batchPlaces)
            AND length(facts) > \(Self.mostFactsInOnePiece)
            """, about: ids.sorted()
        ).map { row throws(StoreError) in try row.integer(0) }
    }
}
