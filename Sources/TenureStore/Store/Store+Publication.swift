package import Foundation

/// Publishes policies, and ends or restores promises: rights that are stored so that later policies keep them
/// (`StoredPromise`). With many customers, that takes several transactions.
extension Store {
    /// Publishes a policy in one transaction, and evaluates the customers that changed since `evaluation`. Afterward,
    /// call `finishPublication`, which ends and restores the promises.
    ///
    /// Customers with large facts are evaluated before that transaction (`LargeFacts`), so that others can write.
    ///
    /// - Parameters:
    ///   - evaluation: what the policy does to all customers, computed before.
    ///   - limit: the maximum number of customers to evaluate again, or to mark promises of, in the transaction.
    ///   - evaluate: returns what the policy does to one customer.
    /// - Returns: the publication, or why it was refused (`PublicationOutcome`). It is `behind` if more than `limit`
    ///   customers changed, more than `limit` customers have promises to mark (`markPromises`), or an earlier
    ///   publication isn't finished.
    package func publish(
        _ request: RequestedPublication, after evaluation: PublicationEvaluation, limit: Int = .max,
        evaluating evaluate: @escaping @Sendable (CustomerToEvaluate) throws(StoreError) -> PublicationImpact
    ) async throws(StoreError) -> PublicationOutcome {
        let largeFacts = LargeFacts()
        return try await write(with: largeFacts, at: request.at, locking: [.policies]) { transaction in
            try transaction.publish(request, after: evaluation, limit: limit) { subject throws(StoreError) in
                try largeFacts.impact(on: subject, evaluate)
            }
        }
    }

    /// Marks the promises that a publication will end, before the policy is published: writes a random number, the
    /// *mark* of the publication, into their rows. Each transaction marks the promises of a few customers, so that
    /// other transactions can write in between.
    ///
    /// Returns the evaluation without customers to mark. Throws `busy` if an earlier publication isn't finished, or if
    /// another publication begins to mark promises.
    package func markPromises(
        of evaluation: PublicationEvaluation, at now: Date
    ) async throws(StoreError) -> PublicationEvaluation {
        var evaluation = evaluation
        if evaluation.beginMarking() {
            try await write(at: now, locking: [.policies]) { [evaluation] in try $0.beginMarking(evaluation.mark) }
        }
        for customers in evaluation.unmarkedCustomers.sorted().chunks(of: Self.maximumMarkedTogether) {
            try await write(at: now, locking: [.policies]) { [evaluation] transaction in
                try transaction.lock(Array(customers))
                try transaction.markPromises(of: Array(customers), by: evaluation)
            }
        }
        evaluation.unmarkedCustomers = []
        return evaluation
    }

    /// The number of customers for whom one transaction marks promises.
    private static let maximumMarkedTogether = 64

    /// Ends and restores the promises of the publication in effect. Each transaction writes the promises of a few
    /// customers, so that other transactions can write in between.
    ///
    /// The transaction that publishes doesn't write these rows: with hundreds of thousands of customers, other writers
    /// would wait for minutes. Throws `busy` if the task is canceled, or if customers change too often.
    package func finishPublication(at now: Date) async throws(StoreError) {
        for _ in 0..<Self.maximumPasses {
            let next = try await read(at: now) { transaction -> (UnfinishedPublication, [SizedCustomer])? in
                guard let unfinished = try transaction.unfinishedPublication() else { return nil }
                return (unfinished, try transaction.customers(awaiting: unfinished))
            }
            guard let (unfinished, customers) = next else { return }
            for piece in customers.pieces {
                guard !Task.isCancelled else { throw .busy }
                try await write(with: LargeFacts(), at: now, locking: [.policies]) { transaction in
                    // Reading a customer for an update ends and restores their promises (`applying`).
                    for customer in piece { _ = try transaction.customer(customer.id, forUpdate: true) }
                }
            }
            // Passes are repeated until no customer is left: another transaction, such as a merge, may have moved
            // promises to a customer who was handled already.
            if customers.isEmpty, try await write(at: now, locking: [.policies], { try $0.end(unfinished) }) { return }
        }
        throw .busy
    }

    /// Removes the marks of publications that marked promises (`markPromises`), but didn't take effect.
    package func removeOldMarks(at now: Date) async throws(StoreError) {
        // Reads first: usually there are no marks, and even a write without changes waits for other writers.
        while try await !read(at: now, { try $0.oldMarks(limit: 1) }).isEmpty {
            try await write(at: now, locking: [.policies]) { try $0.removeMarks(of: try $0.oldMarks(limit: 500)) }
        }
    }

    /// The maximum number of passes over all customers. Usually, the first pass handles all customers, and the second
    /// finds none left. Customers that change meanwhile can require more passes.
    private static let maximumPasses = 20
}
