import Foundation
import TenureCore

/// An act that names thousands of identities, or concerns a customer of whom thousands of purchases are known.
///
/// It is worked out before anybody has to wait for it, and written in pieces between which others write. What the pieces
/// leave is a customer whom more identities name, and of whom nothing is known yet: the last one writes what the act
/// proves, all of it. Where the customer changed meanwhile, it is worked out again.
struct LargeAmendment<Database: SQLStore, Outcome: Sendable>: Sendable {
    let store: Database
    let identities: [Identity]
    let realm: Realm
    let now: Date
    let adopting: @Sendable (Customer) -> Bool
    let change: @Sendable (Customer?) -> (Amendment, Outcome)

    func run() async throws(StoreError) -> (Customer, Outcome) {
        for _ in 0..<Self.tries {
            if let done = try await attempt() { return done }
        }
        // Others were quicker each time: now they wait.
        let (identities, realm, now, adopting, change) = (identities, realm, now, adopting, change)
        return try await store.write(locking: identities.map { $0.key(in: realm) }) { session throws(StoreError) in
            try Ledger(session, at: now).amend(identities, in: realm, adopting: adopting, change)
        }
    }

    private static var tries: Int { 5 }
    /// So many customers are joined by one piece.
    private static var customersPerPiece: Int { 20 }
    /// By which nobody is found who sends something, so that no lock is needed for them.
    private static var otherIdentitiesPerPiece: Int { 2 * Ledger.identitiesPerStatement }

    /// Nil where somebody else changed what it rests on.
    private func attempt() async throws(StoreError) -> (Customer, Outcome)? {
        let named = try await resolved()
        guard try await joinThem(named) else { return nil }
        let lead = named.leading
        guard let prepared = try await prepared(lead), try await claim(named.unknown, prepared) else { return nil }
        let (realm, now, adopting) = (realm, now, adopting)
        return try await store.write(locking: lead.map { $0.key(in: realm) }) { session throws(StoreError) in
            var ledger = Ledger(session, at: now)
            ledger.remembered = prepared.remembered
            return try ledger.amend(prepared, named: lead, in: realm, adopting: adopting)
        }
    }

    private func resolved() async throws(StoreError) -> NamedMembers {
        let (identities, realm, now) = (identities, realm, now)
        return try await store.read { session throws(StoreError) in
            try Ledger(session, at: now).resolve(identities, in: realm)
        }
    }

    /// Makes one customer of those who are one, or makes the customer. False where it is to be looked at again.
    private func joinThem(_ named: NamedMembers) async throws(StoreError) -> Bool {
        let lead = named.leading
        let customers = named.known.isEmpty ? 0 : Set(named.known.map(\.root)).count
        let (realm, now, adopting) = (realm, now, adopting)
        if customers == 1, named.known.first?.identity == lead.first { return true }
        if customers <= 1 {
            // With the strongest identities, so that nobody else makes them.
            let first = Array(named.identities.prefix(Ledger.identitiesPerStatement))
            let all = Array(Set(first + lead)).sorted { ($0.kind, $0.value) < ($1.kind, $1.value) }
            _ = try await store.write(locking: all.map { $0.key(in: realm) }) { session throws(StoreError) in
                try Ledger(session, at: now).amend(all, in: realm, adopting: adopting) { (Amendment(of: $0), ()) }
            }
            return false
        }
        guard let first = lead.first else { return false }
        for others in Array(lead.dropFirst()).chunks(of: Self.customersPerPiece) {
            let piece = [first] + others
            _ = try await store.write(locking: piece.map { $0.key(in: realm) }) { session throws(StoreError) in
                try Ledger(session, at: now).amend(piece, in: realm, adopting: adopting) { (Amendment(of: $0), ()) }
            }
        }
        return true
    }

    /// Nil where nobody is named any more.
    private func prepared(_ lead: [Identity]) async throws(StoreError) -> PreparedAmendment<Outcome>? {
        let (realm, now, adopting) = (realm, now, adopting)
        let former = try await store.read { session throws(StoreError) in
            let ledger = Ledger(session, at: now)
            let known = try ledger.find(try ledger.resolve(lead, in: realm), adopting: adopting, forUpdate: false).known
            return try ledger.knowingOthers(known.first)
        }
        guard let former else { return nil }
        let (amendment, outcome) = change(former)
        return PreparedAmendment(of: former, amendment, outcome)
    }

    /// Writes the identities, piece by piece. False where one was somebody else's by then, or the customer is gone.
    private func claim(
        _ unknown: [Identity], _ prepared: PreparedAmendment<Outcome>
    ) async throws(StoreError) -> Bool {
        let all = Set(identities)
        let others =
            prepared.amendment.identities.filter { !all.contains($0) }
            + prepared.amendment.facts.renewals(beyond: prepared.former.facts)
        for piece in unknown.chunks(of: Ledger.identitiesPerStatement) {
            guard try await claim(Array(piece), for: prepared.former, alone: true) else { return false }
        }
        for piece in others.chunks(of: Self.otherIdentitiesPerPiece) {
            guard try await claim(Array(piece), for: prepared.former, alone: false) else { return false }
        }
        return true
    }

    private func claim(
        _ identities: [Identity], for customer: Customer, alone: Bool
    ) async throws(StoreError) -> Bool {
        let (realm, now) = (realm, now)
        let keys = alone ? identities.map { $0.key(in: realm) } : []
        return try await store.write(locking: keys) { session throws(StoreError) in
            let ledger = Ledger(session, at: now)
            guard try ledger.member(.number(customer.member)) != nil else { return false }
            let count = try ledger.insert(identities, ofMember: customer.member, in: realm)
            return !alone || count == identities.count
        }
    }
}

/// An act that was worked out before the transaction that writes it.
struct PreparedAmendment<Outcome: Sendable>: Sendable {
    /// As it rests on them.
    let former: Customer
    let amendment: Amendment
    let outcome: Outcome
    let encoded: EncodedFacts
    let remembered: EncodedFacts

    init(of former: Customer, _ amendment: Amendment, _ outcome: Outcome) {
        self.former = former
        self.amendment = amendment
        self.outcome = outcome
        encoded = EncodedFacts(amendment.facts)
        remembered = EncodedFacts(former.facts)
    }
}

extension Ledger {
    /// Writes what was worked out before, and whose identities were written; nil where the customer is not as they were.
    func amend<Outcome: Sendable>(
        _ prepared: PreparedAmendment<Outcome>, named identities: [Identity], in realm: Realm,
        adopting: (Customer) -> Bool
    ) throws(StoreError) -> (Customer, Outcome)? {
        let known = try find(try resolve(identities, in: realm), adopting: adopting).known
        guard let former = try knowingOthers(known.first), former == prepared.former,
            former.member == prepared.former.member, former.othersAreComplete == prepared.former.othersAreComplete
        else { return nil }
        let customer = try write(prepared.amendment, of: former, in: realm, encoded: prepared.encoded)
        try record(prepared.amendment, of: customer, instead: former)
        return (customer, prepared.outcome)
    }
}
