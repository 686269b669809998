import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let largeActs: [StoreClause] = [
        StoreClause("an act of thousands of identities is written in pieces, each no longer than twenty ordinary acts")
        {
            store in
            let counted = try store.counted
            _ = try await counted.buy(["0"], by: "warm")
            counted.counts.reset()
            _ = try await counted.buy(["1"], by: "ordinary")
            let ordinary = try unwrap(counted.counts.writes.first, "a transaction")
            try expect(counted.counts.writes.count == 1, "one transaction for an ordinary act")
            for round in ["first", "again"] {
                counted.counts.reset()
                let customer = try await counted.buy(Sample.numbers(3000), by: "large")
                try expect(customer.facts.purchases.count == 3000, "all of it")
                for (index, piece) in counted.counts.writes.enumerated() {
                    let of = "\(round), piece \(index) of \(counted.counts.writes.count)"
                    try expect(piece.statements <= 20 * ordinary.statements, "\(of): \(piece.statements) statements")
                    try expect(piece.values <= 20 * ordinary.values, "\(of): \(piece.values) values")
                }
            }
        },
        StoreClause("what an act does grows with what it names, and no faster") { store in
            let counted = try store.counted
            var last: (statements: Int, read: Int)?
            for count in [250, 500, 1000, 2000] {
                var (statements, read) = (0, 0)
                for _ in 0..<2 {
                    counted.counts.reset()
                    _ = try await counted.buy(Sample.numbers(count, from: count * 100), by: "account \(count)")
                    statements += counted.counts.transactions.map(\.statements).reduce(0, +)
                    read += counted.counts.transactions.map(\.factsRead).reduce(0, +)
                }
                if let last {
                    try expect(Double(statements) <= 2.2 * Double(last.statements), "\(count): \(statements)")
                    try expect(read == last.read, "what is known is read as often: \(read), \(last.read)")
                }
                last = (statements, read)
            }
        },
        StoreClause("joining customers takes as long as they are many") { store in
            let counted = try store.counted
            var last: Int?
            for count in [10, 20, 40, 80] {
                let numbers = Sample.numbers(count, from: count * 1000)
                for number in numbers {
                    _ = try await store.bring(by: [Identity(.originalTransactionID, number)], purchase: number)
                }
                counted.counts.reset()
                let customer = try await counted.buy(numbers, by: "joining \(count)")
                try expect(customer.facts.purchases.count == count, "all are one")
                let members = try await store.members(of: .number(customer.id)).count
                try expect(members == count || members == count + 1, "\(members) members of \(count)")
                let statements = counted.counts.transactions.map(\.statements).reduce(0, +)
                if let last { try expect(Double(statements) <= 2.6 * Double(last), "\(count): \(statements), \(last)") }
                last = statements
            }
        },
        StoreClause("others act between the pieces of a large act") { store in
            let counted = try store.counted
            _ = try await counted.buy(["1"], by: "large")
            counted.counts.reset { number in
                guard number > 1 else { return }
                _ = try await store.amend("other \(number)") { $0.add([], proving: [Sample.proof("other")]) }
                _ = try await store.amend("large") { $0.add([], proving: [Sample.proof("large")]) }
            }
            let customer = try await counted.buy(Sample.numbers(500), by: "large")
            let pieces = counted.counts.writes.count
            counted.counts.reset()
            try expect(pieces > 5, "\(pieces) pieces")
            try expect(customer.facts.purchases.count == 500, "all of it")
            try expect(customer.facts.proofs == [Sample.proof("large")], "with what came meanwhile")
            try expect(try await store.customer(customer.id) == customer, "as it was answered")
        },
        StoreClause("what a large act leaves where it breaks off is consistent, and it can be repeated") { store in
            let counted = try store.counted
            let expected = try await counted.buy(Sample.numbers(300), by: "whole").facts.purchases
            counted.counts.reset()
            _ = try await counted.buy(Sample.numbers(300, from: 1000), by: "counted")
            let pieces = counted.counts.writes.count
            try expect(pieces > 3, "\(pieces) pieces")
            for broken in 1...pieces {
                let id = "broken \(broken)"
                let numbers = Sample.numbers(300, from: broken * 10_000)
                counted.counts.reset { if $0 == broken { throw BrokenClause(description: "broken off") } }
                do {
                    _ = try await counted.buy(numbers, by: id)
                    throw BrokenClause(description: "piece \(broken) was not needed")
                } catch is StoreError {}
                counted.counts.reset()
                if let left = try await store.customer(by: Identity(.appTransactionID, id), in: Sample.production) {
                    let ledger = try unwrap(try await store.ledger(of: left.id), "the ledger")
                    try expect(try Sample.facts(of: ledger) == left.facts, "\(broken): as the ledger proves")
                    try expect(left.facts.purchases.isEmpty, "\(broken): nothing by halves")
                }
                let customer = try await counted.buy(numbers, by: id)
                try expect(customer.facts.purchases.count == expected.count, "\(broken): all of it")
                for number in [numbers[0], numbers[299]] {
                    let found = try await store.customer(
                        by: Identity(.originalTransactionID, number), in: Sample.production)
                    try expect(found?.id == customer.id, "\(broken): found by \(number)")
                }
            }
        },
        StoreClause("what somebody else was found by meanwhile is joined") { store in
            let counted = try store.counted
            counted.counts.reset { number in
                guard number == 3 else { return }
                _ = try await store.bring(by: [Identity(.originalTransactionID, "399")], purchase: "399")
            }
            let customer = try await counted.buy(Sample.numbers(400), by: "large")
            counted.counts.reset()
            let found = try await store.customer(by: Identity(.originalTransactionID, "399"), in: Sample.production)
            try expect(found?.id == customer.id, "one customer")
            try expect(try await store.members(of: .number(customer.id)).count == 2, "of two")
        },
        StoreClause("whoever is erased during a large act is not brought back by halves") { store in
            let counted = try store.counted
            let known = try await counted.buy(["1"], by: "large")
            counted.counts.reset { number in
                guard number == 3 else { return }
                _ = try await store.act(.erase, on: known)
            }
            let customer = try await counted.buy(Sample.numbers(400), by: "large")
            counted.counts.reset()
            try expect(customer.id != known.id, "somebody new")
            try expect(try await store.customer(known.id) == nil, "the other is gone")
            try expect(try await store.customer(customer.id) == customer, "as it was answered")
        },
    ]

    static let unbound: [StoreClause] = [
        StoreClause("an unbound record knows whom its artifacts name, and goes with them") { store in
            let owner = try await store.bring("1", purchases: ["a"])
            let other = try await store.bring("2", purchases: ["b"])
            let names = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "b")]
            _ = try await store.amend("2") { $0.identify(by: [Identity(.originalTransactionID, "b")]) }
            let visit = Identity(visitLedBy: .app, naming: names[0], showing: "x")
            let shown = try unwrap(
                try await store.recordUnbound(
                    visit, naming: names, in: Sample.production, at: Sample.now, Sample.shown("c")), "a record")
            try expect(shown.record.facts.isUnbound && shown.record.id != owner.id, "of its own")
            try expect(shown.customers.map(\.id) == [owner.id, other.id], "both")
            let named = try await store.customers(namedBy: shown.record.id)
            try expect(named.map(\.id) == [owner.id, other.id], "later too")
            try expect(try await store.customer(shown.record.id) == shown.record, "as it was answered")
            let again = try await store.recordUnbound(
                visit, naming: names, in: Sample.production, at: Sample.now, Sample.shown("c"))
            try expect(again?.record.id == shown.record.id, "once")
            try expect(try await store.customers(namedBy: owner.id).isEmpty, "the customer itself names nobody")
            let ledger = try unwrap(try await store.ledger(of: shown.record.id), "the ledger")
            try expect(ledger.isUnbound && ledger.artifacts.count == 1, "as the ledger says")
            let dossier = try unwrap(try await store.dossier(of: .number(other.id), with: .visits), "a dossier")
            try expect(dossier.visits.map(\.customer.id) == [shown.record.id], "with each of them")
            _ = try await store.act(.erase, on: other)
            try expect(try await store.customer(shown.record.id) == nil, "gone with one of them")
            try expect(try await store.customer(owner.id) == owner, "and nobody else")
        },
        StoreClause("an unbound record of nobody is not made") { store in
            let visit = Identity(visitLedBy: .app, naming: Identity(.appTransactionID, "1"), showing: "x")
            let shown = try await store.recordUnbound(
                visit, naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now,
                Sample.shown("c"))
            try expect(shown == nil, "nobody is named")
            try expect(try await store.newestCustomer() == 0, "and nobody made")
        },
        StoreClause("what support did to an unbound record stays") { store in
            let owner = try await store.bring("1")
            let visit = Identity(visitLedBy: .app, naming: Identity(.appTransactionID, "1"), showing: "x")
            func show() async throws -> UnboundRecord {
                try unwrap(
                    try await store.recordUnbound(
                        visit, naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now,
                        Sample.shown("c")), "a record")
            }
            let shown = try await show()
            _ = try await store.act(.revoke(entitlement: "everything"), on: shown.record)
            try expect(try await show().record.facts.support.count == 1, "after it is shown again")
            try expect(try await store.customer(owner.id)?.facts.support.isEmpty == true, "not for the customer")
        },
    ]
}

extension Sample {
    static func numbers(_ count: Int, from first: Int = 0) -> [String] { (first..<first + count).map { "\($0)" } }

    /// What an unbound sync of one purchase leaves.
    static func shown(_ id: String) -> Amendment {
        var amendment = Amendment(of: nil)
        amendment.announcement = .never
        amendment.add([artifact("purchase-\(id)", .transaction)], purchases: [purchase(id)])
        return amendment
    }
}

extension Store {
    var counted: CountedStore {
        get throws {
            guard let database = self as? any SQLStore else { throw BrokenClause(description: "it is no database") }
            return CountedStore(database)
        }
    }

    /// What a sync of one receipt leaves: an artifact, and purchases that have orders and, every second one, renewals.
    fileprivate func buy(_ numbers: [String], by id: String) async throws -> Customer {
        let identities = [Identity(.appTransactionID, id)] + numbers.map { Identity(.originalTransactionID, $0) }
        return try await amend(identities, in: Sample.production, at: Sample.now) { known in
            var amendment = Amendment(of: known)
            for number in numbers.prefix(1) {
                amendment.add([Sample.artifact("receipt-\(id)-\(number)-\(numbers.count)", .receipt)])
            }
            amendment.add([], purchases: numbers.map { Sample.purchase($0) })
            amendment.identify(by: identities + numbers.map { Identity(.webOrderLineItemID, "order \($0)") })
            return (amendment, ())
        }.0
    }
}
