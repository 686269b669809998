package import Foundation

extension SQLStore {
    package func announceDue(
        at now: Date, limit: Int, under publication: Int64?, _ judge: @escaping @Sendable (Customer) -> Announcement?
    ) async throws(StoreError) -> Int {
        let due = try await read { session throws(StoreError) in try Ledger(session, at: now).customersDue(limit: limit)
        }
        for piece in due.pieces {
            let announcing = AnnouncedPiece(customers: piece, now: now, publication: publication, judge: judge)
            guard try await announce(announcing) else { return 0 }
        }
        return due.count
    }

    package func announceAll(
        at now: Date, limit: Int, under publication: Int64?, _ judge: @escaping @Sendable (Customer) -> Announcement?
    ) async throws(StoreError) -> Bool {
        let next = try await read { session throws(StoreError) -> (position: Int64, customers: [SizedCustomer])? in
            let ledger = Ledger(session, at: now)
            guard let position = try ledger.announcedPosition() else { return nil }
            return (position, try ledger.customersToAnnounce(after: position, limit: limit))
        }
        guard let next else { return false }
        var position = next.position
        // The last one has no customers, and says so.
        for piece in next.customers.isEmpty ? [[]] : next.customers.pieces {
            var announcing = AnnouncedPiece(customers: piece, now: now, publication: publication, judge: judge)
            announcing.positions = (position, piece.last?.id)
            guard try await announce(announcing) else { return true }
            position = piece.last?.id ?? position
        }
        return !next.customers.isEmpty
    }

    /// False where another publication decides, or everybody is to be looked at from the beginning.
    private func announce(_ piece: AnnouncedPiece) async throws(StoreError) -> Bool {
        try await retrying { () throws(StoreError) -> Attempt<Bool> in
            let prepared = try await prepare(piece)
            return try await writePiece(at: piece.now, locking: [Self.announcing]) { ledger throws(StoreError) in
                var ledger = ledger
                guard try ledger.isCurrent(piece.publication), try piece.isNext(in: ledger) else { return .done(false) }
                if let prepared {
                    ledger.remembered = [prepared.customer.id: prepared.facts]
                    guard try ledger.customer(prepared.customer.id, forUpdate: true) == prepared.customer else {
                        return .unfinished
                    }
                    try ledger.announce(prepared.customer.id) { _ in prepared.announcement }
                } else {
                    for customer in piece.customers { try ledger.announce(customer.id, piece.judge) }
                }
                if let positions = piece.positions { try ledger.setAnnouncedPosition(positions.after) }
                return .done(true)
            }
        }
    }

    /// Of a customer of whom much is known, what is told is worked out while others write.
    private func prepare(_ piece: AnnouncedPiece) async throws(StoreError) -> PreparedAnnouncement? {
        guard let only = piece.customers.first, piece.customers.count == 1, only.size > Ledger.mostFactsInOnePiece,
            let customer = try await read({ session throws(StoreError) in
                try Ledger(session, at: piece.now).customer(only.id)
            }), customer.id == only.id
        else { return nil }
        return PreparedAnnouncement(
            customer: customer, facts: EncodedFacts(customer.facts), announcement: piece.judge(customer))
    }
}

/// Customers at whom one transaction looks.
private struct AnnouncedPiece: Sendable {
    let customers: [SizedCustomer]
    let now: Date
    let publication: Int64?
    let judge: @Sendable (Customer) -> Announcement?
    /// Where every customer is looked at: up to whom that was done before, and afterwards (nil: everybody).
    var positions: (before: Int64, after: Int64?)?

    func isNext(in ledger: Ledger) throws(StoreError) -> Bool {
        guard let positions else { return true }
        return try ledger.announcedPosition() == positions.before
    }
}

private struct PreparedAnnouncement: Sendable {
    let customer: Customer
    let facts: EncodedFacts
    let announcement: Announcement?
}
