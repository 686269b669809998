package import Foundation
import TenureCore

extension SQLStore {
    package func recordUnbound(
        _ visit: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ amendment: Amendment
    ) async throws(StoreError) -> UnboundRecord? {
        let links = try await turns.take(Turns.reading) { () throws(StoreError) in
            try await read { session throws(StoreError) in
                Set(try Ledger(session, at: now).members(by: identities, in: realm).values).sorted()
            }
        }
        var unbound = amendment
        unbound.leaveUnbound()
        var plan = PlannedAmendment(
            identities: [visit], realm: realm, now: now, size: unbound.size,
            change: { [unbound] former -> (Amendment, Void) in
                guard let former else { return (unbound, ()) }
                var amendment = unbound
                amendment.keep(former.facts.support)
                // The same artifacts again write nothing.
                return (former.facts == amendment.facts ? Amendment(of: former) : amendment, ())
            })
        if links.count <= Ledger.linksPerPiece, unbound.size <= Ledger.mostEntriesInOnePiece {
            plan.condition = { ledger throws(StoreError) in try !ledger.lockedThere(of: links).isEmpty }
            plan.completion = { ledger, record throws(StoreError) in
                try ledger.unlink(record.id, from: Set(try ledger.links(of: record.id)).subtracting(links))
                try ledger.link(record.id, to: Set(links).subtracting(try ledger.links(of: record.id)))
            }
        } else {
            // Before the artifacts: who is erased meanwhile takes the record along.
            guard try await link(visit, to: links, in: realm, at: now) else { return nil }
            plan.condition = { ledger throws(StoreError) in try ledger.member(by: visit, in: realm) != nil }
        }
        guard let (record, _) = try await carryOut(plan) else { return nil }
        let customers = try await customers(namedBy: record.id)
        return customers.isEmpty ? nil : UnboundRecord(record: record, customers: customers)
    }

    /// Makes the record where there is none, and links it, piece by piece. False where none of the members is there.
    private func link(
        _ visit: Identity, to members: [Int64], in realm: Realm, at now: Date
    ) async throws(StoreError) -> Bool {
        try await makeRoom(for: visit, in: realm, at: now)
        let first = members.prefix(Ledger.linksPerPiece)
        let record = try await write(locking: [visit.key(in: realm)]) { session throws(StoreError) -> Int64? in
            let ledger = Ledger(session, at: now)
            guard try !ledger.lockedThere(of: first).isEmpty else { return nil }
            let known = try ledger.member(by: visit, in: realm)
            let record: Int64
            if let known { record = known } else { record = try ledger.newRecord(of: visit, in: realm) }
            try ledger.link(record, to: first)
            return record
        }
        guard let record else { return false }
        let known = try await read { session throws(StoreError) in try Ledger(session, at: now).links(of: record) }
        let missing = Set(members).subtracting(known).sorted()
        let others = Set(known).subtracting(members).sorted()
        for piece in missing.chunks(of: Ledger.linksPerPiece) {
            try await writePiece(at: now) { ledger throws(StoreError) in
                if try ledger.member(.number(record)) != nil { try ledger.link(record, to: piece) }
            }
        }
        for piece in others.chunks(of: Ledger.linksPerPiece) {
            try await writePiece(at: now) { ledger throws(StoreError) in try ledger.unlink(record, from: piece) }
        }
        return true
    }

    /// Of what one customer shows unbound, so much is kept.
    func makeRoom(for visit: Identity, in realm: Realm, at now: Date) async throws(StoreError) {
        func next() async throws(StoreError) -> Int64? {
            try await read { session throws(StoreError) in
                try Ledger(session, at: now).visitInTheWay(of: visit, in: realm)
            }
        }
        while let oldest = try await next() {
            try await writePiece(at: now) { ledger throws(StoreError) in
                if try ledger.member(.number(oldest)) != nil { _ = try ledger.hide([oldest]) }
            }
            try await removeLeftovers(at: now)
        }
    }
}
