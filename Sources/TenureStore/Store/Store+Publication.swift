package import Foundation
import TenureCore

extension Store {
    /// Publishes a policy in one transaction, with verdicts on the customers that changed since the survey. After a
    /// rollback, call `finishRollback`, which restores the promises.
    ///
    /// Verdicts on large customers, and their facts without the promises that end, are computed while others write. If
    /// more than `limit` customers changed, or an earlier rollback isn't finished, the result is `behind`.
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

    /// Restores the promises of the rollback in effect, a few customers in a transaction, so that others write in between.
    ///
    /// The transaction that publishes restores none: with hundreds of thousands of customers, others would wait for minutes.
    /// Throws `busy` if the task is canceled, or if customers change too often.
    package func finishRollback(at now: Date) async throws(StoreError) {
        for _ in 0..<Self.maximumPasses {
            let next = try await read(at: now) { transaction -> (UnfinishedRollback, [SizedCustomer])? in
                guard let rollback = try transaction.unfinishedRollback() else { return nil }
                return (rollback, try transaction.customers(awaiting: rollback))
            }
            guard let (rollback, customers) = next else { return }
            for piece in customers.pieces {
                guard !Task.isCancelled else { throw .busy }
                try await write(with: LargeFacts(), at: now, locking: [.policies]) { transaction in
                    guard try transaction.unfinishedRollback() == rollback,
                        let publication = try transaction.publication(), publication.id == rollback.publication
                    else { return }
                    for customer in piece {
                        try transaction.restorePromises(of: customer.id, for: rollback, publication)
                    }
                }
            }
            // Others may have moved promises to a customer that was passed already.
            if customers.isEmpty, try await write(at: now, locking: [.policies], { try $0.end(rollback) }) { return }
        }
        throw .busy
    }

    /// The most passes over all customers. Usually, the first restores all promises and the second finds none. Customers
    /// that change meanwhile can need more passes.
    private static let maximumPasses = 20

    /// Adds the facts of the large customers with promises that end, as they are and as they will be.
    private func prepare(
        _ largeFacts: LargeFacts, for request: RequestedPublication, after survey: PublicationSurvey
    ) async throws(StoreError) {
        guard request.endsPromises else { return }
        let ending = survey.verdicts.mapValues(\.ending).filter { !$0.value.isEmpty }
        for id in try await read(at: request.at, { try $0.largeCustomers(among: Set(ending.keys)) }) {
            guard let known = try await read(at: request.at, { try $0.customer(id) }) else { continue }
            var facts = known.facts
            largeFacts.add(facts)
            facts.removePromises(of: ending[id] ?? [])
            largeFacts.add(facts)
        }
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
