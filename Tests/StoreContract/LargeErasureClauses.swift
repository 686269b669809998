import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Customers with much data are erased in pieces. Nothing finds them from the first piece on.
    static let largeErasures: [StoreClause] = [
        StoreClause("a large customer is erased in pieces, each no longer than twenty ordinary updates") { store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            try await store.listen(Endpoint(name: "one"), Endpoint(name: "two"))
            let large = try await LargePerson(counted, in: store, "large", purchases: 2000, unboundOfEach: 40)
            let stays = try await counted.show(0..<1, by: "stays")
            try await large.tell(messages: 600)
            try await large.ask(requests: 300)
            try await large.rehearse(40)
            try await store.tell(1, of: "stays")
            try await large.expect(isThere: true)
            counted.counts.reset()
            let outcome = try await counted.change(.erase, on: large.customer)
            let writes = counted.counts.writes
            guard case .erased(let counts) = outcome else { throw BrokenClause(description: "not erased: \(outcome)") }
            try expect(counts["customers"] == 82, "both customers and all unbound ones: \(counts)")
            try expect(counts["artifacts"] == 2081 && counts["identities"] == 2082, "\(counts)")
            try expect(counts["notifications"] == 1 && counts["support"] == 1, "\(counts)")
            try expect(writes.count > 30, "\(writes.count) pieces")
            for (index, piece) in writes.enumerated() {
                let of = "piece \(index) of \(writes.count)"
                try expect(piece.statements <= 20 * ordinary.statements, "\(of): \(piece.statements) statements")
                try expect(piece.values <= 20 * ordinary.values, "\(of): \(piece.values) values")
                try expect(piece.keys <= 64, "\(of): \(piece.keys) keys")
                try expect(piece.factsRead == 0, "\(of): the facts are read \(piece.factsRead) times")
                try expect(piece.changedRows <= 20 * ordinary.changedRows, "\(of): \(piece.changedRows) rows")
            }
            try await large.expect(isThere: false)
            // Three accounts have one purchase. A sync finds the first account by the purchase, and unbound artifacts
            // find all three.
            let expected = [
                "customers": 3, "identities": 6, "artifacts": 3, "outbox": 3, "deliveries": 6, "rehearsals": 41,
            ]
            let rows = try await counted.rows()
            try expect(rows == expected, "only the rows of other customers are left: \(rows)")
            for number in 0...40 {
                let rehearsal = try unwrap(try await store.read { try $0.rehearsal("large \(number)") }, "a rehearsal")
                let report = String(decoding: rehearsal.report, as: UTF8.self)
                try expect(!report.contains("cus_"), "without the example: \(report)")
            }
            try expect(try await store.lookUp(stays.id) == stays, "others stay")
        },
        StoreClause("an interrupted erasure hides the customer, and the rest is removed later") { store in
            let counted = store.counted
            var pieces = 0
            var hidden = 0
            for broken in 1... {
                let large = try await LargePerson(counted, in: store, "\(broken)", purchases: 150, unboundOfEach: 1)
                let before = try await counted.rows()
                counted.counts.reset { if $0 == broken { throw BrokenClause(description: "broken off") } }
                do {
                    _ = try await counted.change(.erase, on: large.customer)
                    counted.counts.reset()
                    pieces = broken - 1
                    break
                } catch is StoreError {}
                counted.counts.reset()
                if try await store.lookUp(large.customer.id) != nil {
                    try await large.expect(isThere: true)
                    try expect(try await counted.rows() == before, "\(broken): all of it is there")
                    _ = try await store.change(.erase, on: large.customer)
                } else {
                    hidden += 1
                    try await large.expect(isThere: false)
                    switch broken % 3 {
                    case 0:
                        let outcome = try await store.change(.erase, on: large.customer)
                        switch outcome {
                        case .erased(let counts): try expect(counts["artifacts"] == 153, "\(broken): \(counts)")
                        default: try expect(outcome.refusal == .noSuchCustomer, "\(broken): \(outcome)")
                        }
                    case 1:
                        let again = try await counted.show(LargePerson.first..<LargePerson.first + 150, by: "\(broken)")
                        try expect(again.publicID != large.customer.publicID, "\(broken): a new customer")
                        try expect(again.facts.purchases.count == 150, "\(broken): with all of it")
                        _ = try await store.change(.erase, on: again)
                    default: try await store.removeLeftovers(at: Sample.now)
                    }
                }
                try await large.expect(isThere: false)
                try expect(try await counted.rows() == [:], "\(broken): \(try await counted.rows())")
                let lines = try await store.read { try $0.audit(before: nil, of: large.customer.publicID, limit: 10) }
                let erasures = lines.filter { $0.action == "erase" && $0.detail["refused"] == nil }
                try expect(erasures.count == 1, "\(broken): one line")
            }
            try expect(pieces > 6 && hidden >= pieces - 1, "\(pieces) pieces, after \(hidden) of them hidden")
        },
        StoreClause("no concurrent operation creates or shows a customer who is being erased") { store in
            let counted = store.counted
            let large = try await LargePerson(counted, in: store, "large", purchases: 200, unboundOfEach: 2)
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.change(.grant(entitlement: "everything", until: nil), on: large.customer)
            try await large.tell(messages: 50)
            try await large.rehearse(1)
            let start = try await store.startFirstPolicy()
            counted.counts.reset { number in
                if number == 2 {
                    let rehearsal = try unwrap(try await store.read { try $0.rehearsal("large 0") }, "a rehearsal")
                    try expect(
                        String(decoding: rehearsal.report, as: UTF8.self) == #"{"examples":[]}"#,
                        "no rehearsal shows them as an example")
                }
                guard number == 3 else { return }
                let reception = try await store.notify("large", "later")
                try expect(
                    reception.isOfErasedCustomer && reception.customer == nil, "a notification is of an erased customer"
                )
                let unbound = try await store.recordUnbound(
                    Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "large"), digest: "0"),
                    naming: [Identity(.appTransactionID, "large")], in: Sample.production, at: Sample.now,
                    Sample.shown("c"))
                try expect(unbound == nil, "no unbound customer is created")
                try expect(
                    try await store.write(at: .distantFuture) { try $0.claimJob(lease: 1) } == nil, "no work")
                let due = try await store.compareDueCustomers(at: .distantFuture, limit: 100) { _ in nil }
                try expect(due == 0, "no comparison of entitlements includes them")
                try expect(
                    try await store.read { try $0.customersToEvaluate(after: 0, limit: 100) }.isEmpty,
                    "no evaluation includes them")
                try expect(
                    try await store.read { try $0.customers(after: 0, limit: 100) }.isEmpty, "no list includes them")
                let sent = try await store.read { try $0.messages(.since(.distantPast), limit: 100) }
                    .map(\.message).filter { $0.publicID == large.customer.publicID }
                try expect(sent.map(\.type) == ["customer.erased"], "only the erasure is sent: \(sent)")
                let rows = try await counted.rows()
                try expect((rows["outbox"] ?? 0) > 1, "some messages are still stored: \(rows)")
                let replayed = try await store.write(at: Sample.now) { try $0.replay(.since(.distantPast)) }
                try expect(replayed == 2, "they aren't queued again: \(replayed)")
                let claimed = try await store.claimDeliveries(to: "all", at: .distantFuture, limit: 100, lease: 1)
                let types = claimed.map(\.message.type).sorted()
                try expect(types == ["customer.erased", "policy.published"], "they aren't delivered: \(types)")
                try expect(
                    try await store.write(at: Sample.now) {
                        try $0.beginTrialSession("s", of: "x", for: large.customer.id) { _, _ in
                            true
                        }
                    }
                        == nil, "no session begins")
                let mark = try await store.write { try $0.position() }
                let outcome = try await store.publish(
                    RequestedPublication(
                        compiled: [2], sha256: [2], action: .publish, at: Sample.now, actor: "ada", reason: nil,
                        base: start.id),
                    after: PublicationEvaluation(at: mark)
                ) { _ in PublicationImpact(loses: true) }
                guard case .published = outcome else { throw BrokenClause(description: "published: \(outcome)") }
            }
            _ = try await counted.change(.erase, on: large.customer)
            counted.counts.reset()
            try await large.expect(isThere: false)
            let rows = try await counted.rows()
            try expect(rows == ["outbox": 3, "deliveries": 3, "rehearsals": 2], "nothing is left: \(rows)")
        },
    ]

    /// Changes by support and messages about large customers. Slow work is done before the transaction that writes
    /// rows.
    static let largeCustomers: [StoreClause] = [
        StoreClause("support can change a large customer in one short transaction") { store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            let known = try await counted.show(0..<2000, by: "known")
            let changes: [CustomerChange] = [
                .grant(entitlement: "everything", until: nil), .grant(entitlement: "everything", until: nil),
                .revoke(entitlement: "everything"), .grant(entitlement: "everything", until: nil),
            ]
            for (number, change) in changes.enumerated() {
                counted.counts.reset()
                let outcome = try await counted.change(change, on: known)
                guard case .done(let customer, let isNew) = outcome else {
                    throw BrokenClause(description: "\(outcome)")
                }
                try expect(isNew == (number != 1), "\(number): a repeated grant changes nothing")
                try expect(customer.facts.purchases.count == 2000, "with what they have")
                try expect(try await store.lookUp(known.id) == customer, "as it was answered")
                try expect(counted.counts.writes.count == 1, "one transaction")
                for write in counted.counts.writes {
                    try expect(write.statements <= 20 * ordinary.statements, "\(write.statements) statements")
                    try expect(write.values <= 20 * ordinary.values, "\(write.values) values")
                }
            }
            let rows = try unwrap(try await store.read { try $0.rows(of: known.id) }, "the rows")
            try expect(try Sample.facts(of: rows) == rows.customer.facts, "as the rows prove")
        },
        StoreClause("a grant by support keeps what other transactions write to a large customer meanwhile") { store in
            let counted = store.counted
            let known = try await counted.show(0..<2000, by: "known")
            counted.counts.reset { number in
                if number == 1 { _ = try await store.show(3000..<3001, by: "known") }
            }
            let outcome = try await counted.change(.grant(entitlement: "everything", until: nil), on: known)
            let writes = counted.counts.writes.count
            counted.counts.reset()
            guard case .done(let customer, true) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(writes == 2, "decided twice: \(writes)")
            try expect(customer.facts.purchases.count == 2001, "the customer has all purchases")
            try expect(customer.facts.support.count == 1, "the customer has the grant")
            let lines = try await store.read { try $0.audit(before: nil, of: known.publicID, limit: 10) }
            try expect(lines.count == 1, "one line in the audit trail")
        },
        StoreClause(
            "entitlement changes of large customers are compared before their transaction, and write no purchase again"
        ) {
            store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            var large: Set<Int64> = []
            for id in ["a", "b"] { large.insert(try await counted.show(0..<2000, by: id).id) }
            for number in 0..<40 { _ = try await store.bring("\(number)") }
            try await store.listen(Endpoint(name: "all"))
            for (round, kind) in ["all", "due"].enumerated() {
                let entitlement = "e\(round)"
                if kind == "due" {
                    for id in large {
                        _ = try await store.change(.revoke(entitlement: "x"), on: try await store.known(id))
                    }
                }
                counted.counts.reset()
                let compare: @Sendable (Customer) -> EntitlementChange? = { [large] customer in
                    // Comparing a large customer takes long, so it isn't done within a transaction.
                    guard !large.contains(customer.id) || !counted.counts.isWriting else { return nil }
                    return .reported(
                        [Sample.granted], SentEntitlements(rights: [entitlement: .init(until: nil)]),
                        nextComparison: nil)
                }
                if kind == "all" {
                    try await counted.write(at: Sample.now, locking: [.endpoints]) {
                        try $0.register([Endpoint(name: "all")], comparisonKey: "b")
                    }
                    while try await counted.compareAllCustomers(at: Sample.now, limit: 100, compare) {}
                } else {
                    let compared = try await counted.compareDueCustomers(at: Sample.now, limit: 100, compare)
                    try expect(compared == 2, "both customers were compared")
                }
                for write in counted.counts.writes {
                    try expect(write.statements <= 20 * ordinary.statements, "\(kind): \(write.statements) statements")
                    // An ordinary sync names single identities, so it binds few values.
                    try expect(write.values <= 25 * ordinary.values, "\(kind): \(write.values) values")
                    try expect(write.bytes <= 20 * ordinary.bytes, "\(kind): \(write.bytes) bytes")
                }
                for id in large {
                    let customer = try await store.known(id)
                    try expect(customer.facts.purchases.count == 2000, "with what they have")
                    let rows = try unwrap(try await store.read { try $0.rows(of: id) }, "the rows")
                    try expect(
                        rows.customer.sentEntitlements == SentEntitlements(rights: [entitlement: .init(until: nil)]),
                        "\(kind): the sent entitlements are stored")
                }
                let sent = try await store.read { try $0.messages(.since(.distantPast), limit: 100) }
                try expect(sent.count == (round == 0 ? 44 : 46), "\(kind): one message for each: \(sent.count)")
            }
        },
    ]
}

/// A customer with two accounts and much data. Other devices sent artifacts of both accounts.
private struct LargePerson {
    static let first = 10_000

    /// A store with transactions that aren't counted.
    let base: Store
    let id: String
    let customer: Customer
    private let other: Customer
    private let unboundCustomers: [Customer]

    init(_ store: Store, in base: Store, _ id: String, purchases: Int, unboundOfEach: Int) async throws {
        self.base = base
        self.id = id
        let own = try await store.show(Self.first..<Self.first + purchases, by: id)
        other = try await store.bring("\(id) other")
        _ = try await store.notify(id, "of \(id)")
        var unboundCustomers: [Customer] = []
        for name in [id, "\(id) other"] {
            for unbound in 0..<unboundOfEach {
                let named = Identity(.appTransactionID, name)
                // The store keeps twenty unbound customers for each kind of artifact.
                let lead: Identity.Lead = unbound < 20 ? .app : .receipt
                let shown = try await store.recordUnbound(
                    Identity(unboundLedBy: lead, naming: named, digest: "\(unbound)"), naming: [named],
                    in: Sample.production, at: Sample.now, Sample.shown("\(unbound)"))
                unboundCustomers.append(try unwrap(shown, "an unbound customer").unbound)
            }
        }
        self.unboundCustomers = unboundCustomers
        _ = try await store.change(.merge(other: other.publicID), on: own)
        _ = try await store.change(.grant(entitlement: "everything", until: nil), on: own, request: "grant \(id)")
        customer = own
    }

    /// Adds messages to deliver. One of them was tried and failed.
    func tell(messages count: Int) async throws {
        try await base.tell(count, of: id)
        for endpoint in try await base.read({ try $0.endpoints() }) {
            let claimed = try await base.claimDeliveries(to: endpoint.name, at: Sample.now, limit: 1, lease: 1)
            for delivery in claimed {
                try await base.write(at: Sample.now) {
                    try $0.recordAttempt(of: delivery, .failed(status: 500, detail: "no", retryAt: Sample.now))
                }
            }
        }
    }

    /// Stores the IDs of many requests by support.
    func ask(requests count: Int) async throws {
        for number in 0..<count {
            _ = try await base.change(
                .grant(entitlement: "everything", until: nil), on: customer, request: "\(id) \(number)")
        }
    }

    /// Stores rehearsals that have the customer as an example, and one rehearsal that doesn't.
    func rehearse(_ count: Int) async throws {
        let publication = try await base.write(at: Sample.now, locking: [.policies]) {
            try $0.start(with: [1], sha256: [1])
        }
        for number in 0...count {
            let report = number < count ? "{\"examples\": [\"\(customer.publicID)\"]}" : "{}"
            try await base.write(at: Sample.now) { [id] in
                try $0.record(
                    StoredRehearsal(
                        id: "\(id) \(number)", base: publication.id, sha256: [1], at: Sample.now, actor: "ada",
                        gaining: 0, losing: 0, losingWithPromises: 0, report: Array(report.utf8)))
            }
        }
    }

    func expect(isThere: Bool) async throws {
        func expect(_ found: Bool, _ way: String) throws {
            try StoreContract.expect(found == isThere, "\(id): \(isThere ? "found" : "not found") by \(way)")
        }
        for customer in [customer, other] + unboundCustomers {
            try expect(try await base.lookUp(customer.id) != nil, "the customer is found by number")
            try expect(try await base.read { try $0.customer(named: customer.publicID) } != nil, "public id")
            try expect(try await base.read { try $0.rows(of: customer.id) } != nil, "rows")
            try expect(
                try await base.read { try $0.details(of: .publicID(customer.publicID), with: .unbound) } != nil,
                "details")
            try expect(try await !base.read { try $0.members(of: .rowID(customer.id)) }.isEmpty, "the members")
            try expect(
                try await base.read { try $0.signedEntries(of: customer.id, after: .init(), limit: 1) } != nil,
                "signed entries")
            try expect(try await !base.read { try $0.artifacts(of: customer.id) }.isEmpty, "artifacts")
        }
        for unbound in unboundCustomers {
            try expect(try await !base.read { try $0.customers(namedBy: unbound) }.isEmpty, "unbound")
        }
        for name in [id, "\(id) other"] {
            let found = try await base.read { try $0.customers(withAnyID: name, in: [Sample.production]) }
            try expect(!found.isEmpty, "the id \(name)")
        }
    }
}

extension Store {
    fileprivate func known(_ id: Int64) async throws -> Customer { try unwrap(try await lookUp(id), "the customer") }
}

extension Store {
    /// Writes messages about the customer with this public ID.
    fileprivate func tell(_ count: Int, of id: String) async throws {
        _ = try await update(id) { update in
            update.messages = (0..<count).map { Message(.entitlementGranted, ["number": "\($0)"]) }
        }
    }

    /// The counts of an ordinary update.
    func ordinary() async throws -> CountedDatabase.Transaction {
        _ = try await show(0..<1, by: "warm")
        counts.reset()
        _ = try await show(0..<1, by: "ordinary")
        let ordinary = try unwrap(counts.writes.first, "a transaction")
        try expect(counts.writes.count == 1, "one transaction for an ordinary update")
        counts.reset()
        return ordinary
    }

    /// The number of rows of each of these tables, without empty tables.
    fileprivate func rows() async throws -> [String: Int] {
        try await database.read { session throws(StoreError) in
            var counts: [String: Int] = [:]
            for table in [
                "customers", "identities", "artifacts", "notifications", "support_grants", "events", "unbound_links",
                "jobs", "requests", "separations", "unfinished_updates", "outbox", "deliveries", "delivery_log",
                "rehearsals",
            ] {
                let count = try session.row("SELECT count(*) FROM \(table)")?.integer(0) ?? 0
                if count > 0 { counts[table] = Int(count) }
            }
            return counts
        }
    }
}
