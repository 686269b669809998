package import Foundation

extension SQLStore {
    /// Hides the customer in one transaction, and removes their rows in pieces. Returns when nothing is left; where that
    /// breaks off, asking again or the next start goes on.
    func erase(
        _ act: RequestedAct, _ customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ActOutcome {
        let hidden = try await hideVisitors(of: customer, at: act.at)
        let outcome = try await writePiece(at: act.at, locking: act.keys) { ledger throws(StoreError) in
            var ledger = ledger
            ledger.hiddenBefore = hidden
            return try ledger.perform(act, on: customer, by: rederivation)
        }
        // Also where the customer is gone already: what is left may be of one who was the same.
        try await removeLeftovers(at: act.at)
        return outcome
    }

    /// Hides unbound records in pieces until one transaction can hide the rest: others may have sent the customer's artifacts
    /// many times.
    private func hideVisitors(of name: CustomerName, at now: Date) async throws(StoreError) -> [String: Int] {
        var counts: [String: Int] = [:]
        while true {
            let visitors = try await read { session throws(StoreError) -> [Int64] in
                let ledger = Ledger(session, at: now)
                guard let member = try ledger.member(name, forUpdate: false),
                    let root = try ledger.roots(of: [member.id])[member.id]
                else { return [] }
                return try ledger.visitors(of: root)
            }
            guard visitors.count > Ledger.hiddenPerPiece else { return counts }
            let more = try await writePiece(at: now) { ledger throws(StoreError) in
                try ledger.hide(try ledger.lockedThere(of: visitors.prefix(Ledger.hiddenPerPiece)))
            }
            counts.merge(more) { $0 + $1 }
        }
    }

    package func removeLeftovers(at now: Date) async throws(StoreError) {
        // Reads first: mostly there is nothing, and that writes nothing.
        while try await read({ session throws(StoreError) in try Ledger(session, at: now).hasLeftovers() }) {
            try await writePiece(at: now) { ledger throws(StoreError) in try ledger.removeLeftover() }
        }
    }
}
