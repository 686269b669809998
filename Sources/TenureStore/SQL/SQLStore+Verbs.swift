package import Foundation
import TenureCore

extension SQLStore {
    package func customer(_ id: Int64) async throws(StoreError) -> Customer? {
        try await read { session throws(StoreError) in try Ledger(session).customer(id) }
    }

    package func customer(named publicID: String) async throws(StoreError) -> Customer? {
        try await read { session throws(StoreError) in try Ledger(session).customer(named: publicID) }
    }

    package func customers(after id: Int64, limit: Int) async throws(StoreError) -> [Int64] {
        try await read { session throws(StoreError) in try Ledger(session).customers(after: id, limit: limit) }
    }

    package func forEachCustomer(
        after id: Int64, through last: Int64,
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) async throws(StoreError) {
        try await read { session throws(StoreError) in try Ledger(session).customerPage(after: id, through: last) }
            .forEach(body)
    }

    package func newestCustomer() async throws(StoreError) -> Int64 {
        try await read { session throws(StoreError) in
            try session.row("SELECT coalesce(max(id), 0) FROM customers")?.integer(0) ?? 0
        }
    }

    package func amend<Outcome: Sendable>(
        _ identities: [Identity], in realm: Realm, at now: Date, adopting: @escaping @Sendable (Customer) -> Bool,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome) {
        if identities.count <= Ledger.identitiesPerStatement {
            let done = try await write(locking: identities.map { $0.key(in: realm) }) {
                session throws(StoreError) -> (Customer, Outcome)? in
                let ledger = Ledger(session, at: now)
                let named = try ledger.resolve(identities, in: realm)
                guard named.factsSize <= Ledger.mostFactsInOnePiece else { return nil }
                return try ledger.amend(named, adopting: adopting, change)
            }
            if let done { return done }
        }
        return try await LargeAmendment(
            store: self, identities: identities, realm: realm, now: now, adopting: adopting, change: change
        ).run()
    }

    package func amend<Outcome: Sendable>(
        _ customer: Customer, by identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome)? {
        try await write(locking: identities.map { $0.key(in: customer.realm) }) { session throws(StoreError) in
            try Ledger(session, at: now).amend(customer, by: identities, change)
        }
    }

    package func recordUnbound(
        _ visit: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ amendment: Amendment
    ) async throws(StoreError) -> UnboundRecord? {
        var amendment = amendment
        amendment.leaveUnbound()
        let unbound = amendment
        // What one transaction need not do is done before it: nobody waits for it.
        let links = try await read { session throws(StoreError) in
            Set(try Ledger(session, at: now).members(by: identities, in: realm).values).sorted()
        }
        let encoded = EncodedFacts(unbound.facts)
        let record = try await write(locking: [visit.key(in: realm)]) { session throws(StoreError) in
            try Ledger(session, at: now).recordUnbound(visit, links, in: realm, unbound, encoded)
        }
        guard let record else { return nil }
        let customers = try await customers(namedBy: record.id)
        return customers.isEmpty ? nil : UnboundRecord(record: record, customers: customers)
    }

    package func customers(namedBy unbound: Int64) async throws(StoreError) -> [Customer] {
        try await read { session throws(StoreError) in try Ledger(session).customers(namedBy: unbound) }
    }

    /// Many acts in one transaction: all of them happen, or none.
    package func amend(
        _ acts: [(identities: [Identity], realm: Realm, change: @Sendable (Customer?) -> Amendment)], at now: Date
    ) async throws(StoreError) -> [Customer] {
        let keys = acts.flatMap { act in act.identities.map { $0.key(in: act.realm) } }
        return try await write(locking: keys) { session throws(StoreError) in
            let ledger = Ledger(session, at: now)
            return try acts.map { act throws(StoreError) in
                try ledger.amend(act.identities, in: act.realm, adopting: { _ in true }) { (act.change($0), ()) }.0
            }
        }
    }

    package func record(
        policy compiled: [UInt8], sha256: [UInt8], at now: Date
    ) async throws(StoreError) -> [RecordedPolicy] {
        try await write(locking: ["policies"]) { session throws(StoreError) in
            try Ledger(session, at: now).record(policy: compiled, sha256: sha256)
        }
    }

    package func policies() async throws(StoreError) -> [RecordedPolicy] {
        try await read { session throws(StoreError) in try Ledger(session).policies() }
    }

    package func artifacts(of customer: Int64) async throws(StoreError) -> [Artifact] {
        try await read { session throws(StoreError) in try Ledger(session).artifacts(of: customer) }
    }

    package func ledger(of customer: Int64) async throws(StoreError) -> CustomerLedger? {
        try await read { session throws(StoreError) in try Ledger(session).ledger(of: customer) }
    }

    package func check() async throws(StoreError) {
        try await read { session throws(StoreError) in
            guard try session.row("SELECT count(*) FROM record") != nil else { throw .failed("it does not answer") }
        }
    }
}

extension Identity {
    /// Acts that name it happen one after the other.
    func key(in realm: Realm) -> String { "\(realm.code) \(kind.rawValue) \(value)" }
}
