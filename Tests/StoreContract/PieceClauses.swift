import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Updates with many artifacts. Each piece is short, and no artifact is used before the last piece.
    static let pieces: [StoreClause] = [
        StoreClause("every kind of large update is written in pieces, each no longer than twenty ordinary updates") {
            store in
            let counted = store.counted
            _ = try await counted.show(0..<1, by: "warm")
            counted.counts.reset()
            _ = try await counted.show(0..<1, by: "ordinary")
            let ordinary = try unwrap(counted.counts.writes.first, "a transaction")
            try expect(counted.counts.writes.count == 1, "one transaction for an ordinary update")
            let known = try await counted.show(0..<2000, by: "known")
            let renewing = Identity(.originalTransactionID, "subscription")
            let updates: [(String, () async throws -> Void)] = [
                ("a list", { _ = try await counted.show(0..<2000, by: "list") }),
                ("the list again", { _ = try await counted.show(0..<2000, by: "list") }),
                ("a subscription", { _ = try await counted.renew(2000, of: renewing) }),
                ("a history", { try await counted.complete(known, 5000..<7000) }),
                ("a notification", { try await counted.notify("known", "1") }),
                ("an unbound list", { _ = try await counted.showUnbound(0..<2000, naming: "known") }),
            ]
            for (name, update) in updates {
                counted.counts.reset()
                try await update()
                for (index, piece) in counted.counts.writes.enumerated() {
                    let of = "\(name), piece \(index) of \(counted.counts.writes.count)"
                    try expect(piece.statements <= 20 * ordinary.statements, "\(of): \(piece.statements) statements")
                    try expect(piece.values <= 20 * ordinary.values, "\(of): \(piece.values) values")
                    try expect(piece.keys <= 64, "\(of): \(piece.keys) keys")
                }
            }
            let now = try await store.present(known)
            try expect(now.facts.purchases.count == 4001, "all of it: \(now.facts.purchases.count)")
        },
        StoreClause("an update with about as many identities as the lock limit locks at most 64 keys") { store in
            let counted = store.counted
            for count in 62...66 {
                let identities = (0..<count).map { Identity(.originalTransactionID, "\(count) \($0)") }
                for round in ["first", "again"] {
                    counted.counts.reset()
                    let reception = try await counted.notify(identities, "\(count) \(round)")
                    try expect(reception.isNew, "the notification is new")
                    _ = try await counted.update(identities, in: Sample.production, at: Sample.now) {
                        (CustomerUpdate(of: $0), ())
                    }
                    for piece in counted.counts.writes {
                        try expect(piece.keys <= 64, "\(count), \(round): \(piece.keys) keys")
                    }
                }
                let customer = try await store.customer(by: identities[count - 1], in: Sample.production)
                try expect(customer?.facts.purchases.count == 2, "one customer with both")
            }
        },
        StoreClause(
            "artifacts are used after the last piece of their update, and an interrupted update can be repeated"
        ) { store in
            let counted = store.counted
            counted.counts.reset()
            _ = try await counted.show(0..<200, by: "counted")
            let pieces = counted.counts.writes.count
            try expect(pieces > 4, "\(pieces) pieces")
            for broken in 1...pieces {
                let (id, first) = ("broken \(broken)", broken * 1000)
                counted.counts.reset { if $0 == broken { throw BrokenClause(description: "broken off") } }
                do {
                    _ = try await counted.show(first..<first + 200, by: id)
                    throw BrokenClause(description: "piece \(broken) wasn't needed")
                } catch is StoreError {}
                counted.counts.reset()
                if let left = try await store.customer(by: Identity(.appTransactionID, id), in: Sample.production) {
                    let rows = try unwrap(try await store.read { try $0.rows(of: left.id) }, "the rows")
                    try expect(rows.artifacts.isEmpty && left.facts.purchases.isEmpty, "\(broken): nothing counts")
                    let details = try unwrap(
                        try await store.read { try $0.details(of: .rowID(left.id), with: []) },
                        "the details of the customer")
                    try expect(details.artifacts.isEmpty, "\(broken): the details list none")
                }
                // The second list has one artifact fewer, so the missing artifact belongs to no finished update.
                let customer = try await counted.show(first..<first + 199, by: id)
                let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
                try expect(rows.artifacts.count == 199, "\(broken): \(rows.artifacts.count) artifacts")
                try expect(try Sample.facts(of: rows) == customer.facts, "\(broken): as the rows prove")
            }
        },
        StoreClause("an artifact that another update writes meanwhile is stored once") { store in
            let counted = store.counted
            counted.counts.reset { number in
                guard number == 5 else { return }
                _ = try await store.show(0..<3, by: "large")
                let now = try await store.customer(by: Identity(.appTransactionID, "large"), in: Sample.production)
                let rows = try unwrap(
                    try await store.read { try $0.rows(of: try unwrap(now, "a customer").id) }, "the rows")
                try expect(
                    rows.artifacts.count == 3 && now?.facts.purchases.count == 3,
                    "the three artifacts and their purchases are stored")
            }
            let customer = try await counted.show(0..<300, by: "large")
            counted.counts.reset()
            let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
            try expect(rows.artifacts.count == 300, "\(rows.artifacts.count) artifacts")
            try expect(try Sample.facts(of: rows) == customer.facts, "as the rows prove")
        },
        StoreClause("concurrent large updates of one customer are all saved") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for list in 0..<6 {
                    group.addTask { _ = try await store.show(list * 100..<list * 100 + 200, by: "large") }
                    group.addTask { _ = try await store.show(list..<list + 1, by: "large") }
                }
                try await group.waitForAll()
            }
            let customer = try unwrap(
                try await store.customer(by: Identity(.appTransactionID, "large"), in: Sample.production), "a customer")
            let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
            try expect(rows.artifacts.count == 700, "\(rows.artifacts.count) artifacts")
            try expect(try Sample.facts(of: rows) == customer.facts, "as the rows prove")
        },
        StoreClause("customers beyond the limit of a merge stay separate and aren't read more often") { store in
            let counted = store.counted
            for number in 0..<250 {
                _ = try await store.bring(by: [Identity(.originalTransactionID, "\(number)")], purchase: "\(number)")
            }
            _ = try await counted.show(0..<250, by: "owner")
            counted.counts.reset()
            let customer = try await counted.show(0..<250, by: "owner")
            try expect(customer.facts.purchases.count == 250, "all purchases of the update")
            try expect(
                try await store.read { try $0.members(of: .rowID(customer.id)) }.count == 100,
                "as many as can be merged")
            for piece in counted.counts.writes { try expect(piece.factsRead <= 25, "\(piece.factsRead) are read") }
        },
        StoreClause("a large notification is stored once, and not for an erased customer") { store in
            let counted = store.counted
            let known = try await counted.show(0..<1000, by: "known")
            for isNew in [true, false] {
                let reception = try await counted.notify("known", "1")
                try expect(reception.isNew == isNew && reception.customer?.id == known.id, "kept once")
            }
            try expect(try await store.present(known).facts.purchases.count == 1001, "with what it proves")
            counted.counts.reset { number in
                guard number == 2 else { return }
                _ = try await store.change(.erase, on: known)
            }
            let reception = try await counted.notify("known", "2")
            counted.counts.reset()
            try expect(reception.isOfErasedCustomer, "the customer is erased")
            try expect(
                try await store.customer(by: Identity(.appTransactionID, "known"), in: Sample.production) == nil,
                "no customer is created")
        },
        StoreClause("unbound customers beyond the limit are removed in pieces") { store in
            let counted = store.counted
            _ = try await store.bring("known")
            var records: [Customer] = []
            for list in 0..<20 { records.append(try await counted.showUnbound(list..<list + 300, naming: "known")) }
            counted.counts.reset { number in
                if number == 3 { throw BrokenClause(description: "broken off") }
            }
            do { _ = try await counted.showUnbound(1000..<1300, naming: "known") } catch is StoreError {}
            let pieces = counted.counts.writes.count
            counted.counts.reset()
            try expect(pieces == 2, "\(pieces) before")
            let first = records[0].id
            let rows = try await store.read { try $0.rows(of: first) }
            try expect(rows?.artifacts.isEmpty != false && rows?.isUnbound != false, "the unfinished update isn't used")
            try expect(rows?.customer.facts.proofs.isEmpty != false, "it has no facts")
            for list in 50..<52 { _ = try await counted.showUnbound(list..<list + 300, naming: "known") }
            try expect(try await store.lookUp(records[0].id) == nil, "it is gone")
            try expect(try await store.lookUp(records[19].id) == records[19], "others are there")
        },
        StoreClause("a customer with an update that ends during an evaluation is checked again") { store in
            let counted = store.counted
            let start = try await store.startFirstPolicy()
            let before = try await counted.show(0..<1, by: "large")
            let mark = PositionDuringUpdate()
            counted.counts.reset { number in
                if number == 5 { await mark.set(try await store.write { try $0.position() }) }
            }
            // All artifacts are written before the position, so the last piece adds none.
            let customer = try await counted.show(0..<200, by: "large")
            counted.counts.reset()
            try expect(customer.id == before.id, "one customer")
            let evaluation = PublicationEvaluation(at: try unwrap(await mark.value, "a mark"))
            let outcome = try await store.publishOver(evaluation, base: start.id) { subject in
                PublicationImpact(loses: subject.customer.facts.purchases.count == 200)
            }
            try expect(outcome == .tooManyLosing(1), "as they are now: \(outcome)")
        },
    ]
}

/// The database position that a test reads between two pieces of an update.
private actor PositionDuringUpdate {
    private(set) var value: DatabasePosition?

    func set(_ mark: DatabasePosition) { value = mark }
}

extension Store {
    fileprivate func publishOver(
        _ evaluation: PublicationEvaluation, base: Int64,
        _ evaluate: @escaping @Sendable (CustomerToEvaluate) throws(StoreError) -> PublicationImpact
    ) async throws -> PublicationOutcome {
        try await publish(
            RequestedPublication(
                compiled: [2], sha256: [2], action: .publish, at: Sample.now, actor: "ada", reason: nil, base: base),
            after: evaluation, evaluating: evaluate)
    }

    /// Writes what a sync of a list of purchases writes: an artifact for each.
    func show(_ numbers: Range<Int>, by id: String) async throws -> Customer {
        let identities =
            [Identity(.appTransactionID, id)] + numbers.map { Identity(.originalTransactionID, "\($0)") }
        return try await update(identities, in: Sample.production, at: Sample.now, adding: 2 * numbers.count) { known in
            (Sample.list(numbers, of: known), ())
        }.0
    }

    /// Writes what a receipt with one subscription writes.
    fileprivate func renew(_ count: Int, of subscription: Identity) async throws -> Customer {
        try await update([subscription], in: Sample.production, at: Sample.now, adding: count) { known in
            var update = CustomerUpdate(of: known)
            update.add(
                [Sample.artifact("receipt-\(count)", .receipt)],
                purchases: (0..<count).map {
                    Purchase(
                        transactionID: "renewal \($0)", originalTransactionID: subscription.value,
                        productID: "com.example.calculator.yearly", type: .autoRenewable, purchaseDate: Sample.now,
                        signedDate: Sample.now)
                })
            update.identify(by: (0..<count).map { Identity(.webOrderLineItemID, "renewal \($0)") })
            return (update, ())
        }.0
    }

    fileprivate func complete(_ customer: Customer, _ numbers: Range<Int>) async throws {
        let identities = numbers.map { Identity(.originalTransactionID, "history \($0)") }
        _ = try await update(
            customer, naming: [Identity(.appTransactionID, "known")] + identities, at: Sample.now,
            adding: 2 * numbers.count
        ) { (Sample.list(numbers, of: $0), ()) }
    }

    @discardableResult
    func notify(_ id: String, _ uuid: String) async throws -> Reception {
        try await notify([Identity(.appTransactionID, id)], uuid)
    }

    fileprivate func notify(_ identities: [Identity], _ uuid: String) async throws -> Reception {
        let notification = StoredNotification(
            realm: Sample.production, uuid: uuid, type: "DID_RENEW", subtype: nil, signedDate: Sample.now,
            bytes: Sample.header + Array(".\(uuid).c2lnbmF0dXJl".utf8))
        return try await receive(notification, about: identities, at: Sample.now) { known in
            var update = CustomerUpdate(of: known)
            update.add([], purchases: [Sample.purchase("told \(uuid)")])
            return update
        }
    }

    func showUnbound(_ numbers: Range<Int>, naming id: String) async throws -> Customer {
        let names = Identity(.appTransactionID, id)
        let shown = try await recordUnbound(
            Identity(unboundLedBy: .app, naming: names, digest: "\(numbers)"), naming: [names], in: Sample.production,
            at: Sample.now, Sample.list(numbers, of: nil))
        return try unwrap(shown, "an unbound customer").unbound
    }
}

extension Sample {
    fileprivate static func list(_ numbers: Range<Int>, of known: Customer?) -> CustomerUpdate {
        var update = CustomerUpdate(of: known)
        update.add(
            numbers.map { artifact("purchase-\($0)", .transaction) }, purchases: numbers.map { purchase("\($0)") })
        return update
    }
}
