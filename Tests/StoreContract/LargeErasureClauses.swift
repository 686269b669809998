import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Customers of whom much is known are erased in pieces, and found by nobody from the first piece on.
    static let largeErasures: [StoreClause] = [
        StoreClause("whoever is large is erased in pieces, each no longer than twenty ordinary acts") { store in
            let counted = try store.counted
            let ordinary = try await counted.ordinary()
            let large = try await LargePerson(counted, in: store, "large", purchases: 2000, visitsOfEach: 40)
            let stays = try await counted.show(0..<1, by: "stays")
            try await large.expect(isThere: true)
            counted.counts.reset()
            let outcome = try await counted.act(.erase, on: large.customer)
            let writes = counted.counts.writes
            guard case .erased(let counts) = outcome else { throw BrokenClause(description: "not erased: \(outcome)") }
            try expect(counts["customers"] == 82, "both and all visits: \(counts)")
            try expect(counts["artifacts"] == 2081 && counts["identities"] == 2082, "\(counts)")
            try expect(counts["notifications"] == 1 && counts["support"] == 1, "\(counts)")
            try expect(writes.count > 30, "\(writes.count) pieces")
            for (index, piece) in writes.enumerated() {
                let of = "piece \(index) of \(writes.count)"
                try expect(piece.statements <= 20 * ordinary.statements, "\(of): \(piece.statements) statements")
                try expect(piece.values <= 20 * ordinary.values, "\(of): \(piece.values) values")
                try expect(piece.keys <= 64, "\(of): \(piece.keys) keys")
                try expect(piece.factsRead == 0, "\(of): what is known is read")
            }
            try await large.expect(isThere: false)
            try expect(
                try await counted.rows() == ["customers": 3, "identities": 4, "artifacts": 3], "nothing is left")
            try expect(try await store.customer(stays.id) == stays, "others stay")
        },
        StoreClause("an erasure that breaks off hides the customer, and what is left is removed later") { store in
            let counted = try store.counted
            var pieces = 0
            var hidden = 0
            for broken in 1... {
                let large = try await LargePerson(counted, in: store, "\(broken)", purchases: 150, visitsOfEach: 1)
                let before = try await counted.rows()
                counted.counts.reset { if $0 == broken { throw BrokenClause(description: "broken off") } }
                do {
                    _ = try await counted.act(.erase, on: large.customer)
                    counted.counts.reset()
                    pieces = broken - 1
                    break
                } catch is StoreError {}
                counted.counts.reset()
                if try await store.customer(large.customer.id) != nil {
                    try await large.expect(isThere: true)
                    try expect(try await counted.rows() == before, "\(broken): all of it is there")
                    _ = try await store.act(.erase, on: large.customer)
                } else {
                    hidden += 1
                    try await large.expect(isThere: false)
                    switch broken % 3 {
                    case 0:
                        let outcome = try await store.act(.erase, on: large.customer)
                        switch outcome {
                        case .erased(let counts): try expect(counts["artifacts"] == 153, "\(broken): \(counts)")
                        default: try expect(outcome.refusal == .noSuchCustomer, "\(broken): \(outcome)")
                        }
                    case 1:
                        let again = try await counted.show(LargePerson.first..<LargePerson.first + 150, by: "\(broken)")
                        try expect(again.publicID != large.customer.publicID, "\(broken): somebody new")
                        try expect(again.facts.purchases.count == 150, "\(broken): with all of it")
                        _ = try await store.act(.erase, on: again)
                    default: try await store.removeLeftovers(at: Sample.now)
                    }
                }
                try await large.expect(isThere: false)
                try expect(try await counted.rows() == [:], "\(broken): \(try await counted.rows())")
                let lines = try await store.audit(before: nil, of: large.customer.publicID, limit: 10)
                try expect(
                    lines.filter { $0.act == "erase" && $0.detail["refused"] == nil }.count == 1, "\(broken): one line")
            }
            try expect(pieces > 6 && hidden >= pieces - 1, "\(pieces) pieces, after \(hidden) of them hidden")
        },
        StoreClause("what others do while somebody is erased makes nobody of the erased") { store in
            let counted = try store.counted
            let large = try await LargePerson(counted, in: store, "large", purchases: 200, visitsOfEach: 2)
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.act(.grant(entitlement: "everything", until: nil), on: large.customer)
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            counted.counts.reset { number in
                guard number == 3 else { return }
                let reception = try await store.notify("large", "later")
                try expect(reception.isOfErased && reception.customer == nil, "a notification is of nobody")
                let visit = try await store.recordUnbound(
                    Identity(visitLedBy: .app, naming: Identity(.appTransactionID, "large"), showing: "0"),
                    naming: [Identity(.appTransactionID, "large")], in: Sample.production, at: Sample.now,
                    Sample.shown("c"))
                try expect(visit == nil, "no unbound record")
                try expect(try await store.claimJob(.history, at: .distantFuture, lease: 1) == nil, "no work")
                let due = try await store.announceDue(at: .distantFuture, limit: 100) { _ in nil }
                try expect(due == 0, "nobody looks at them")
                try expect(try await store.survey(after: 0, limit: 100).isEmpty, "no survey meets them")
                try expect(try await store.customers(after: 0, limit: 100).isEmpty, "nobody lists them")
                let told = try await store.messages(.since(.distantPast), limit: 100)
                    .map(\.message).filter { $0.publicID == large.customer.publicID }
                try expect(told.map(\.type) == ["customer.erased"], "no message speaks of them: \(told)")
                try expect(
                    try await store.beginTrialSession("s", of: "x", for: large.customer.id, at: Sample.now) { _, _ in
                        true
                    }
                        == nil, "no session begins")
                let mark = try await store.ledgerMark()
                let outcome = try await store.publish(
                    RequestedPublication(
                        compiled: [2], sha256: [2], act: .publish, at: Sample.now, actor: "ada", reason: nil,
                        base: start.id),
                    after: PublicationSurvey(mark: mark)
                ) { _ in PublicationVerdict(loses: true) }
                guard case .published = outcome else { throw BrokenClause(description: "published: \(outcome)") }
            }
            _ = try await counted.act(.erase, on: large.customer)
            counted.counts.reset()
            try await large.expect(isThere: false)
            try expect(try await counted.rows() == [:], "nothing is left")
        },
    ]

    /// Acts of support and announcements: what takes long is done before the transaction.
    static let largeCustomers: [StoreClause] = [
        StoreClause("support acts on whoever is large as on others") { store in
            let counted = try store.counted
            let ordinary = try await counted.ordinary()
            let known = try await counted.show(0..<2000, by: "known")
            let acts: [CustomerAct] = [
                .grant(entitlement: "everything", until: nil), .grant(entitlement: "everything", until: nil),
                .revoke(entitlement: "everything"), .grant(entitlement: "everything", until: nil),
            ]
            for (number, act) in acts.enumerated() {
                counted.counts.reset()
                let outcome = try await counted.act(act, on: known)
                guard case .done(let customer, let isNew) = outcome else {
                    throw BrokenClause(description: "\(outcome)")
                }
                try expect(isNew == (number != 1), "\(number): what was done before changes nothing")
                try expect(customer.facts.purchases.count == 2000, "with what they have")
                try expect(try await store.customer(known.id) == customer, "as it was answered")
                try expect(counted.counts.writes.count == 1, "one transaction")
                for write in counted.counts.writes {
                    try expect(write.statements <= 20 * ordinary.statements, "\(write.statements) statements")
                    try expect(write.values <= 20 * ordinary.values, "\(write.values) values")
                }
            }
            let ledger = try unwrap(try await store.ledger(of: known.id), "the ledger")
            try expect(try Sample.facts(of: ledger) == ledger.customer.facts, "as the ledger proves")
        },
        StoreClause("what others do meanwhile to a large customer is kept beside an act of support") { store in
            let counted = try store.counted
            let known = try await counted.show(0..<2000, by: "known")
            counted.counts.reset { number in
                if number == 1 { _ = try await store.show(3000..<3001, by: "known") }
            }
            let outcome = try await counted.act(.grant(entitlement: "everything", until: nil), on: known)
            let writes = counted.counts.writes.count
            counted.counts.reset()
            guard case .done(let customer, true) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(writes == 2, "worked out twice: \(writes)")
            try expect(customer.facts.purchases.count == 2001 && customer.facts.support.count == 1, "both")
            let lines = try await store.audit(before: nil, of: known.publicID, limit: 10)
            try expect(lines.count == 1, "one line")
        },
        StoreClause("announcements look at large customers before their transaction, and write no purchase again") {
            store in
            let counted = try store.counted
            let ordinary = try await counted.ordinary()
            var large: Set<Int64> = []
            for id in ["a", "b"] { large.insert(try await counted.show(0..<2000, by: id).id) }
            for number in 0..<40 { _ = try await store.bring("\(number)") }
            try await store.listen(Endpoint(name: "all"))
            for (round, kind) in ["all", "due"].enumerated() {
                let entitlement = "e\(round)"
                if kind == "due" {
                    for id in large {
                        _ = try await store.act(.revoke(entitlement: "x"), on: try await store.known(id))
                    }
                }
                counted.counts.reset()
                let judge: @Sendable (Customer) -> Announcement? = { [large] customer in
                    // What takes long isn't done while others wait.
                    guard !large.contains(customer.id) || !counted.counts.isWriting else { return nil }
                    return .told(
                        [Sample.granted], Announced(rights: [entitlement: .init(until: nil)]), nextLook: nil)
                }
                if kind == "all" {
                    try await counted.announce(to: [Endpoint(name: "all")], under: "b", at: Sample.now)
                    while try await counted.announceAll(at: Sample.now, limit: 100, judge) {}
                } else {
                    try expect(try await counted.announceDue(at: Sample.now, limit: 100, judge) == 2, "both")
                }
                for write in counted.counts.writes {
                    try expect(write.statements <= 20 * ordinary.statements, "\(kind): \(write.statements) statements")
                    try expect(write.values <= 20 * ordinary.values, "\(kind): \(write.values) values")
                    try expect(write.bytes <= 20 * ordinary.bytes, "\(kind): \(write.bytes) bytes")
                }
                for id in large {
                    let customer = try await store.known(id)
                    try expect(customer.facts.purchases.count == 2000, "with what they have")
                    let ledger = try unwrap(try await store.ledger(of: id), "the ledger")
                    try expect(
                        ledger.customer.announced == Announced(rights: [entitlement: .init(until: nil)]),
                        "\(kind): told")
                }
                let told = try await store.messages(.since(.distantPast), limit: 100)
                try expect(told.count == (round == 0 ? 44 : 46), "\(kind): once for each: \(told.count)")
            }
        },
    ]
}

/// One who has two accounts, and of whom much is known; other devices showed artifacts of both.
private struct LargePerson {
    static let first = 10_000

    /// The store whose acts aren't counted.
    let base: any Store
    let id: String
    let customer: Customer
    private let other: Customer
    private let visits: [Customer]

    init(_ store: CountedStore, in base: any Store, _ id: String, purchases: Int, visitsOfEach: Int) async throws {
        self.base = base
        self.id = id
        let own = try await store.show(Self.first..<Self.first + purchases, by: id)
        other = try await store.bring("\(id) other")
        _ = try await store.notify(id, "of \(id)")
        var visits: [Customer] = []
        for name in [id, "\(id) other"] {
            for visit in 0..<visitsOfEach {
                let named = Identity(.appTransactionID, name)
                // Twenty of each way to lead are kept.
                let lead: Identity.Lead = visit < 20 ? .app : .receipt
                let shown = try await store.recordUnbound(
                    Identity(visitLedBy: lead, naming: named, showing: "\(visit)"), naming: [named],
                    in: Sample.production, at: Sample.now, Sample.shown("\(visit)"))
                visits.append(try unwrap(shown, "a visit").record)
            }
        }
        self.visits = visits
        _ = try await store.act(.merge(other: other.publicID), on: own)
        _ = try await store.act(.grant(entitlement: "everything", until: nil), on: own, request: "grant \(id)")
        customer = own
    }

    func expect(isThere: Bool) async throws {
        func expect(_ found: Bool, _ way: String) throws {
            try StoreContract.expect(found == isThere, "\(id): \(isThere ? "found" : "not found") by \(way)")
        }
        for customer in [customer, other] + visits {
            try expect(try await base.customer(customer.id) != nil, "number")
            try expect(try await base.customer(named: customer.publicID) != nil, "public id")
            try expect(try await base.ledger(of: customer.id) != nil, "ledger")
            try expect(try await base.dossier(of: .publicID(customer.publicID), with: .visits) != nil, "dossier")
            try expect(try await !base.members(of: .number(customer.id)).isEmpty, "members")
            try expect(
                try await base.signedEntries(of: customer.id, after: .init(), limit: 1) != nil, "signed entries")
            try expect(try await !base.artifacts(of: customer.id).isEmpty, "artifacts")
        }
        for visit in visits { try expect(try await !base.customers(namedBy: visit.id).isEmpty, "visit") }
        for name in [id, "\(id) other"] {
            let found = try await base.customers(withAnyID: name, in: [Sample.production])
            try expect(!found.isEmpty, "the id \(name)")
        }
    }
}

extension Store {
    fileprivate func known(_ id: Int64) async throws -> Customer { try unwrap(try await customer(id), "the customer") }
}

extension CountedStore {
    /// What an ordinary act does.
    fileprivate func ordinary() async throws -> Transaction {
        _ = try await show(0..<1, by: "warm")
        counts.reset()
        _ = try await show(0..<1, by: "ordinary")
        let ordinary = try unwrap(counts.writes.first, "a transaction")
        try expect(counts.writes.count == 1, "one transaction for an ordinary act")
        counts.reset()
        return ordinary
    }

    /// How many rows each of these tables has; those left out that have none.
    fileprivate func rows() async throws -> [String: Int] {
        try await read { session throws(StoreError) in
            var counts: [String: Int] = [:]
            for table in [
                "customers", "identities", "artifacts", "notifications", "support_acts", "events", "unbound_links",
                "jobs", "requests", "separations", "unfinished_acts",
            ] {
                let count = try session.row("SELECT count(*) FROM \(table)")?.integer(0) ?? 0
                if count > 0 { counts[table] = Int(count) }
            }
            return counts
        }
    }
}
