import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Acts of many artifacts, of which each piece is short and none counts before the last.
    static let pieces: [StoreClause] = [
        StoreClause("whatever is large is written in pieces, each no longer than twenty ordinary acts") { store in
            let counted = try store.counted
            _ = try await counted.show(0..<1, by: "warm")
            counted.counts.reset()
            _ = try await counted.show(0..<1, by: "ordinary")
            let ordinary = try unwrap(counted.counts.writes.first, "a transaction")
            try expect(counted.counts.writes.count == 1, "one transaction for an ordinary act")
            let known = try await counted.show(0..<2000, by: "known")
            let renewing = Identity(.originalTransactionID, "subscription")
            let acts: [(String, () async throws -> Void)] = [
                ("a list", { _ = try await counted.show(0..<2000, by: "list") }),
                ("the list again", { _ = try await counted.show(0..<2000, by: "list") }),
                ("a subscription", { _ = try await counted.renew(2000, of: renewing) }),
                ("a history", { try await counted.complete(known, 5000..<7000) }),
                ("a notification", { try await counted.notify("known", "1") }),
                ("an unbound list", { _ = try await counted.showUnbound(0..<2000, naming: "known") }),
            ]
            for (name, act) in acts {
                counted.counts.reset()
                try await act()
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
        StoreClause("an act that names about as many identities as may be locked locks no more") { store in
            let counted = try store.counted
            for count in 62...66 {
                let identities = (0..<count).map { Identity(.originalTransactionID, "\(count) \($0)") }
                for round in ["first", "again"] {
                    counted.counts.reset()
                    let reception = try await counted.notify(identities, "\(count) \(round)")
                    try expect(reception.isNew, "kept")
                    _ = try await counted.amend(identities, in: Sample.production, at: Sample.now) {
                        (Amendment(of: $0), ())
                    }
                    for piece in counted.counts.writes {
                        try expect(piece.keys <= 64, "\(count), \(round): \(piece.keys) keys")
                    }
                }
                let customer = try await store.customer(by: identities[count - 1], in: Sample.production)
                try expect(customer?.facts.purchases.count == 2, "one customer with both")
            }
        },
        StoreClause("artifacts count with the last piece of their act, and what broke off can be repeated") { store in
            let counted = try store.counted
            counted.counts.reset()
            _ = try await counted.show(0..<200, by: "counted")
            let pieces = counted.counts.writes.count
            try expect(pieces > 4, "\(pieces) pieces")
            for broken in 1...pieces {
                let (id, first) = ("broken \(broken)", broken * 1000)
                counted.counts.reset { if $0 == broken { throw BrokenClause(description: "broken off") } }
                do {
                    _ = try await counted.show(first..<first + 200, by: id)
                    throw BrokenClause(description: "piece \(broken) was not needed")
                } catch is StoreError {}
                counted.counts.reset()
                if let left = try await store.customer(by: Identity(.appTransactionID, id), in: Sample.production) {
                    let ledger = try unwrap(try await store.ledger(of: left.id), "the ledger")
                    try expect(ledger.artifacts.isEmpty && left.facts.purchases.isEmpty, "\(broken): nothing counts")
                    let dossier = try unwrap(try await store.dossier(of: .number(left.id), with: []), "a dossier")
                    try expect(dossier.artifacts.isEmpty, "\(broken): nothing is told")
                }
                // The second list has one artifact less, which then belongs to no act.
                let customer = try await counted.show(first..<first + 199, by: id)
                let ledger = try unwrap(try await store.ledger(of: customer.id), "the ledger")
                try expect(ledger.artifacts.count == 199, "\(broken): \(ledger.artifacts.count) artifacts")
                try expect(try Sample.facts(of: ledger) == customer.facts, "\(broken): as the ledger proves")
            }
        },
        StoreClause("an artifact that came meanwhile in another act counts there, and once") { store in
            let counted = try store.counted
            counted.counts.reset { number in
                guard number == 5 else { return }
                _ = try await store.show(0..<3, by: "large")
                let now = try await store.customer(by: Identity(.appTransactionID, "large"), in: Sample.production)
                let ledger = try unwrap(try await store.ledger(of: try unwrap(now, "a customer").id), "the ledger")
                try expect(ledger.artifacts.count == 3 && now?.facts.purchases.count == 3, "three count")
            }
            let customer = try await counted.show(0..<300, by: "large")
            counted.counts.reset()
            let ledger = try unwrap(try await store.ledger(of: customer.id), "the ledger")
            try expect(ledger.artifacts.count == 300, "\(ledger.artifacts.count) artifacts")
            try expect(try Sample.facts(of: ledger) == customer.facts, "as the ledger proves")
        },
        StoreClause("large acts on one customer at the same time all count") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for list in 0..<6 {
                    group.addTask { _ = try await store.show(list * 100..<list * 100 + 200, by: "large") }
                    group.addTask { _ = try await store.show(list..<list + 1, by: "large") }
                }
                try await group.waitForAll()
            }
            let customer = try unwrap(
                try await store.customer(by: Identity(.appTransactionID, "large"), in: Sample.production), "a customer")
            let ledger = try unwrap(try await store.ledger(of: customer.id), "the ledger")
            try expect(ledger.artifacts.count == 700, "\(ledger.artifacts.count) artifacts")
            try expect(try Sample.facts(of: ledger) == customer.facts, "as the ledger proves")
        },
        StoreClause("more customers than can be one are left as they are, and looked at no more often") { store in
            let counted = try store.counted
            for number in 0..<250 {
                _ = try await store.bring(by: [Identity(.originalTransactionID, "\(number)")], purchase: "\(number)")
            }
            _ = try await counted.show(0..<250, by: "owner")
            counted.counts.reset()
            let customer = try await counted.show(0..<250, by: "owner")
            try expect(customer.facts.purchases.count == 250, "all that was shown")
            try expect(try await store.members(of: .number(customer.id)).count == 100, "as many as can be one")
            for piece in counted.counts.writes { try expect(piece.factsRead <= 25, "\(piece.factsRead) are read") }
        },
        StoreClause("a large notification is kept once, and not of somebody who was erased") { store in
            let counted = try store.counted
            let known = try await counted.show(0..<1000, by: "known")
            for isNew in [true, false] {
                let reception = try await counted.notify("known", "1")
                try expect(reception.isNew == isNew && reception.customer?.id == known.id, "kept once")
            }
            try expect(try await store.present(known).facts.purchases.count == 1001, "with what it proves")
            counted.counts.reset { number in
                guard number == 2 else { return }
                _ = try await store.act(.erase, on: known)
            }
            let reception = try await counted.notify("known", "2")
            counted.counts.reset()
            try expect(reception.isOfErased, "of nobody who is there")
            try expect(
                try await store.customer(by: Identity(.appTransactionID, "known"), in: Sample.production) == nil,
                "nobody is made")
        },
        StoreClause("unbound records that make room are removed in pieces") { store in
            let counted = try store.counted
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
            let ledger = try await store.ledger(of: records[0].id)
            try expect(ledger?.artifacts.isEmpty != false && ledger?.isUnbound != false, "nothing of it counts")
            try expect(ledger?.customer.facts.proofs.isEmpty != false, "nothing of it is known")
            for list in 50..<52 { _ = try await counted.showUnbound(list..<list + 300, naming: "known") }
            try expect(try await store.customer(records[0].id) == nil, "it is gone")
            try expect(try await store.customer(records[19].id) == records[19], "others are there")
        },
        StoreClause("a customer whose act ends during a survey is looked at again") { store in
            let counted = try store.counted
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let before = try await counted.show(0..<1, by: "large")
            let mark = MarkDuringAct()
            counted.counts.reset { number in
                if number == 5 { await mark.set(try await store.ledgerMark()) }
            }
            // The last artifacts were there before the mark, so that the last piece adds none.
            let customer = try await counted.show(0..<200, by: "large")
            counted.counts.reset()
            try expect(customer.id == before.id, "one customer")
            let survey = PublicationSurvey(mark: try unwrap(await mark.value, "a mark"))
            let outcome = try await store.publishOver(survey, base: start.id) { surveyed in
                PublicationVerdict(loses: surveyed.customer.facts.purchases.count == 200)
            }
            try expect(outcome == .takes(1), "as they are now: \(outcome)")
        },
    ]
}

private actor MarkDuringAct {
    private(set) var value: LedgerMark?

    func set(_ mark: LedgerMark) { value = mark }
}

extension Store {
    fileprivate func publishOver(
        _ survey: PublicationSurvey, base: Int64,
        _ judge: @escaping @Sendable (SurveyedCustomer) throws(StoreError) -> PublicationVerdict
    ) async throws -> PublicationOutcome {
        try await publish(
            RequestedPublication(
                compiled: [2], sha256: [2], act: .publish, at: Sample.now, actor: "ada", reason: nil, base: base),
            after: survey, judging: judge)
    }

    /// What a sync of a list leaves: an artifact for each purchase.
    func show(_ numbers: Range<Int>, by id: String) async throws -> Customer {
        let identities =
            [Identity(.appTransactionID, id)] + numbers.map { Identity(.originalTransactionID, "\($0)") }
        return try await amend(identities, in: Sample.production, at: Sample.now, adding: 2 * numbers.count) { known in
            (Sample.list(numbers, of: known), ())
        }.0
    }

    /// What a receipt of one subscription leaves.
    fileprivate func renew(_ count: Int, of subscription: Identity) async throws -> Customer {
        try await amend([subscription], in: Sample.production, at: Sample.now, adding: count) { known in
            var amendment = Amendment(of: known)
            amendment.add(
                [Sample.artifact("receipt-\(count)", .receipt)],
                purchases: (0..<count).map {
                    Purchase(
                        transactionID: "renewal \($0)", originalTransactionID: subscription.value,
                        productID: "com.example.calculator.yearly", type: .autoRenewable, purchaseDate: Sample.now,
                        signedDate: Sample.now)
                })
            amendment.identify(by: (0..<count).map { Identity(.webOrderLineItemID, "renewal \($0)") })
            return (amendment, ())
        }.0
    }

    fileprivate func complete(_ customer: Customer, _ numbers: Range<Int>) async throws {
        let identities = numbers.map { Identity(.originalTransactionID, "history \($0)") }
        _ = try await amend(
            customer, by: [Identity(.appTransactionID, "known")] + identities, at: Sample.now,
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
            var amendment = Amendment(of: known)
            amendment.add([], purchases: [Sample.purchase("told \(uuid)")])
            return amendment
        }
    }

    func showUnbound(_ numbers: Range<Int>, naming id: String) async throws -> Customer {
        let names = Identity(.appTransactionID, id)
        let shown = try await recordUnbound(
            Identity(visitLedBy: .app, naming: names, showing: "\(numbers)"), naming: [names], in: Sample.production,
            at: Sample.now, Sample.list(numbers, of: nil))
        return try unwrap(shown, "a record").record
    }
}

extension Sample {
    fileprivate static func list(_ numbers: Range<Int>, of known: Customer?) -> Amendment {
        var amendment = Amendment(of: known)
        amendment.add(
            numbers.map { artifact("purchase-\($0)", .transaction) }, purchases: numbers.map { purchase("\($0)") })
        return amendment
    }
}
