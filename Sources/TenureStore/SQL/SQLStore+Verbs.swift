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
        _ identities: [Identity], in realm: Realm, at now: Date, adding size: Int,
        adopting: @escaping @Sendable (Customer) -> Bool,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome) {
        let plan = PlannedAmendment(
            identities: identities, realm: realm, now: now, size: size, adopting: adopting, change: change)
        guard let done = try await carryOut(plan) else { throw .failed("an act without a condition did not happen") }
        return done
    }

    package func amend<Outcome: Sendable>(
        _ customer: Customer, by identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome)? {
        var plan = PlannedAmendment(
            identities: identities, realm: customer.realm, now: now, size: size, change: change)
        plan.condition = { ledger throws(StoreError) in try ledger.member(.number(customer.member)) != nil }
        return try await carryOut(plan)
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
        try await read { session throws(StoreError) in
            let ledger = Ledger(session)
            return try ledger.member(.number(customer), forUpdate: false) == nil ? [] : ledger.artifacts(of: customer)
        }
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
