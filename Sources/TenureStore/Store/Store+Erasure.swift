package import Foundation

/// Erases customers. Their rows are removed in pieces (short transactions), so that other transactions don't wait.
extension Store {
    /// Hides the customer in one transaction, so that no operation finds them anymore. Then removes their rows in
    /// pieces, and returns when no row is left. If the process ends before that, another request or the next start of
    /// the service continues.
    func erase(_ request: RequestedChange, on customer: CustomerName) async throws(StoreError) -> ChangeOutcome {
        let hidden = try await hideUnbound(of: customer, at: request.at)
        let outcome = try await writePiece(at: request.at, locking: request.keys) { transaction in
            var transaction = transaction
            transaction.hiddenBefore = hidden
            return try transaction.perform(request, on: customer)
        }
        // This also runs if the customer doesn't exist: an earlier erasure may have left rows.
        try await removeLeftovers(at: request.at)
        return outcome
    }

    /// Hides unbound customers in pieces, until one transaction can hide the rest. An unbound customer is a list of
    /// this customer's artifacts that came without proof that they belong to the sender. Other people may have sent
    /// many such lists. Returns how many customers, and rows of each table, were hidden; see
    /// `DatabaseTransaction.hide(_:)`.
    private func hideUnbound(of name: CustomerName, at now: Date) async throws(StoreError) -> [String: Int] {
        var counts: [String: Int] = [:]
        while true {
            let unbound = try await read(at: now) { transaction -> [Int64] in
                guard let member = try transaction.member(name, forUpdate: false),
                    let survivor = try transaction.survivors(of: [member.id])[member.id]
                else { return [] }
                return try transaction.unboundCustomers(of: survivor)
            }
            guard unbound.count > DatabaseTransaction.hiddenPerPiece else { return counts }
            let more = try await writePiece(at: now) { transaction in
                try transaction.hide(try transaction.lockExisting(unbound.prefix(DatabaseTransaction.hiddenPerPiece)))
            }
            counts.merge(more) { $0 + $1 }
        }
    }

    /// Removes in pieces what is left of erased customers, and of large updates that will never be finished.
    package func removeLeftovers(at now: Date) async throws(StoreError) {
        // Reads first: usually there is nothing to remove, and even a write without changes waits for other writers.
        while let leftovers = try await read(at: now, { try $0.leftovers() }) {
            // The stored result of a rehearsal (dry run of a policy) may name erased customers as examples.
            for (rehearsal, customers) in leftovers.rehearsals {
                try await writePiece(at: now) { try $0.removeExamples(of: customers, from: rehearsal) }
            }
            for update in leftovers.updates {
                // Each piece removes some rows, and returns true after the last row.
                while try await !writePiece(at: now, { try $0.remove(update) }) {}
            }
        }
    }

    /// Removes the tombstones that are more than a day old: rows that tell a running publication which customers were
    /// erased or split.
    package func removeOldTombstones(at now: Date) async throws(StoreError) {
        // Reads first, as in `removeLeftovers`.
        guard try await read(at: now, { try $0.hasOldTombstones() }) else { return }
        try await writePiece(at: now) { try $0.removeOldTombstones() }
    }
}
