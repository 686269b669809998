import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let largeUpdates: [StoreClause] = [
        StoreClause(
            "an update with thousands of identities is written in pieces, each no longer than twenty ordinary updates"
        ) {
            store in
            let counted = store.counted
            _ = try await counted.buy(["0"], by: "warm")
            counted.counts.reset()
            _ = try await counted.buy(["1"], by: "ordinary")
            let ordinary = try unwrap(counted.counts.writes.first, "a transaction")
            try expect(counted.counts.writes.count == 1, "one transaction for an ordinary update")
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
        StoreClause("the work of an update grows only linearly with the number of its identities") { store in
            let counted = store.counted
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
                    try expect(read == last.read, "the facts are read equally often: \(read), \(last.read)")
                }
                last = (statements, read)
            }
        },
        StoreClause("the work of merging customers grows only linearly with their number") { store in
            let counted = store.counted
            var last: Int?
            for count in [10, 20, 40, 80] {
                let numbers = Sample.numbers(count, from: count * 1000)
                for number in numbers {
                    _ = try await store.bring(by: [Identity(.originalTransactionID, number)], purchase: number)
                }
                counted.counts.reset()
                let customer = try await counted.buy(numbers, by: "joining \(count)")
                try expect(customer.facts.purchases.count == count, "all customers are merged")
                let members = try await store.read { try $0.members(of: .rowID(customer.id)) }.count
                try expect(members == count || members == count + 1, "\(members) members of \(count)")
                let statements = counted.counts.transactions.map(\.statements).reduce(0, +)
                if let last { try expect(Double(statements) <= 2.6 * Double(last), "\(count): \(statements), \(last)") }
                last = statements
            }
        },
        StoreClause("other updates run between the pieces of a large update") { store in
            let counted = store.counted
            _ = try await counted.buy(["1"], by: "large")
            counted.counts.reset { number in
                guard number > 1 else { return }
                _ = try await store.update("other \(number)") { $0.add([], proving: [Sample.proof("other")]) }
                _ = try await store.update("large") { $0.add([], proving: [Sample.proof("large")]) }
            }
            let customer = try await counted.buy(Sample.numbers(500), by: "large")
            let pieces = counted.counts.writes.count
            counted.counts.reset()
            try expect(pieces > 5, "\(pieces) pieces")
            try expect(customer.facts.purchases.count == 500, "all of it")
            try expect(customer.facts.proofs == [Sample.proof("large")], "with the proof that came meanwhile")
            try expect(try await store.lookUp(customer.id) == customer, "as it was returned")
        },
        StoreClause("an interrupted large update leaves consistent data and can be repeated") { store in
            let counted = store.counted
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
                    throw BrokenClause(description: "piece \(broken) wasn't needed")
                } catch is StoreError {}
                counted.counts.reset()
                if let left = try await store.customer(by: Identity(.appTransactionID, id), in: Sample.production) {
                    let rows = try unwrap(try await store.read { try $0.rows(of: left.id) }, "the rows")
                    try expect(try Sample.facts(of: rows) == left.facts, "\(broken): as the rows prove")
                    try expect(left.facts.purchases.isEmpty, "\(broken): none of the purchases")
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
        StoreClause("a customer who gets an identity of a large update meanwhile is merged") { store in
            let counted = store.counted
            counted.counts.reset { number in
                guard number == 3 else { return }
                _ = try await store.bring(by: [Identity(.originalTransactionID, "399")], purchase: "399")
            }
            let customer = try await counted.buy(Sample.numbers(400), by: "large")
            counted.counts.reset()
            let found = try await store.customer(by: Identity(.originalTransactionID, "399"), in: Sample.production)
            try expect(found?.id == customer.id, "one customer")
            try expect(try await store.read { try $0.members(of: .rowID(customer.id)) }.count == 2, "merged from two")
        },
        StoreClause("a customer who is erased during a large update isn't partly restored") { store in
            let counted = store.counted
            let known = try await counted.buy(["1"], by: "large")
            counted.counts.reset { number in
                guard number == 3 else { return }
                _ = try await store.change(.erase, on: known)
            }
            let customer = try await counted.buy(Sample.numbers(400), by: "large")
            counted.counts.reset()
            try expect(customer.id != known.id, "a new customer")
            try expect(try await store.lookUp(known.id) == nil, "the other is gone")
            try expect(try await store.lookUp(customer.id) == customer, "as it was returned")
        },
    ]

    static let unbound: [StoreClause] = [
        StoreClause("an unbound customer belongs to the customers of its artifacts, and is erased with any customer") {
            store in
            let owner = try await store.bring("1", purchases: ["a"])
            let other = try await store.bring("2", purchases: ["b"])
            let names = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "b")]
            _ = try await store.update("2") { $0.identify(by: [Identity(.originalTransactionID, "b")]) }
            let unbound = Identity(unboundLedBy: .app, naming: names[0], digest: "x")
            let shown = try unwrap(
                try await store.recordUnbound(
                    unbound, naming: names, in: Sample.production, at: Sample.now, Sample.shown("c")),
                "an unbound customer")
            try expect(shown.unbound.facts.isUnbound && shown.unbound.id != owner.id, "a separate customer")
            try expect(shown.customers.map(\.id) == [owner.id, other.id], "the unbound customer names both customers")
            let named = try await store.read { try $0.customers(namedBy: shown.unbound) }
            try expect(named.map(\.id) == [owner.id, other.id], "a later read finds the same customers")
            try expect(try await store.lookUp(shown.unbound.id) == shown.unbound, "as it was returned")
            let again = try await store.recordUnbound(
                unbound, naming: names, in: Sample.production, at: Sample.now, Sample.shown("c"))
            try expect(again?.unbound.id == shown.unbound.id, "the same artifacts make no second unbound customer")
            try expect(
                try await store.read { try $0.customers(namedBy: owner) }.isEmpty,
                "the customer itself names no other"
            )
            let rows = try unwrap(try await store.read { try $0.rows(of: shown.unbound.id) }, "the rows")
            try expect(rows.isUnbound && rows.artifacts.count == 1, "unbound, with the artifact")
            let details = try unwrap(
                try await store.read { try $0.details(of: .rowID(other.id), with: [.unbound, .bytes]) },
                "the details of the other customer")
            try expect(details.unbound.map(\.customer.id) == [shown.unbound.id], "the details of each name it")
            try expect(
                details.unbound.flatMap(\.artifacts).map(\.bytes) == [
                    Sample.artifact("purchase-c", .transaction).bytes
                ], "with its artifacts")
            _ = try await store.change(.erase, on: other)
            try expect(
                try await store.lookUp(shown.unbound.id) == nil,
                "the unbound customer was erased with one of its customers")
            try expect(try await store.lookUp(owner.id) == owner, "the other named customer stays")
        },
        StoreClause(
            "an unbound customer belongs to each of the many customers that its artifacts name now, and to no other"
        ) {
            store in
            var owners: [Int64] = []
            for id in 0..<150 { owners.append(try await store.bring("\(id)").id) }
            try await store.listen(Endpoint(name: "all"))
            let unbound = Identity(unboundLedBy: .transactions, naming: Identity(.appTransactionID, "0"), digest: "x")
            for range in [0..<150, 10..<80, 5..<150, 10..<30, 20..<40] {
                let shown = try await store.recordUnbound(
                    unbound, naming: range.map { Identity(.appTransactionID, "\($0)") }, in: Sample.production,
                    at: Sample.now, Sample.shown("c"))
                let named = try unwrap(shown, "an unbound customer").customers.map(\.id)
                try expect(named == Array(owners[range]), "\(range): \(named.count) customers")
            }
            let due = try await store.compareDueCustomers(at: .distantFuture, limit: 9) { _ in nil }
            try expect(due == 0, "webhooks never report anything about it")
        },
        StoreClause("an unbound customer can't be merged with another customer") { store in
            let (owner, stranger) = (try await store.bring("1"), try await store.bring("2"))
            let unbound = Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "x")
            let shown = try unwrap(
                try await store.recordUnbound(
                    unbound, naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now,
                    Sample.shown("c")), "an unbound customer"
            ).unbound
            for (one, other) in [(shown, owner), (owner, shown), (shown, stranger)] {
                try expect(
                    try await store.change(.merge(other: other.publicID), on: one).refusal == .unboundProof,
                    "a merge with an unbound customer is refused")
            }
        },
        StoreClause("artifacts of an unknown customer create no unbound customer") { store in
            let unbound = Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "x")
            let shown = try await store.recordUnbound(
                unbound, naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now,
                Sample.shown("c"))
            try expect(shown == nil, "no customer is named")
            try expect(try await store.read { try $0.highestCustomerRowID() } == 0, "and none is created")
        },
        StoreClause("support's revocation for an unbound customer stays when the artifacts are sent again") { store in
            let owner = try await store.bring("1")
            let unbound = Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "x")
            func show() async throws -> UnboundCustomer {
                try unwrap(
                    try await store.recordUnbound(
                        unbound, naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now,
                        Sample.shown("c")), "an unbound customer")
            }
            let shown = try await show()
            let grant = CustomerChange.grant(entitlement: "everything", until: nil)
            try expect(
                try await store.change(grant, on: shown.unbound).refusal == .unboundProof, "a grant is refused")
            _ = try await store.change(.revoke(entitlement: "everything"), on: shown.unbound)
            try expect(try await show().unbound.facts.support.count == 1, "after the artifacts are sent again")
            try expect(try await store.lookUp(owner.id)?.facts.support.isEmpty == true, "not for the customer")
        },
    ]
}

extension Sample {
    static func numbers(_ count: Int, from first: Int = 0) -> [String] { (first..<first + count).map { "\($0)" } }

    /// The update that an unbound sync of one purchase makes.
    static func shown(_ id: String) -> CustomerUpdate {
        var update = CustomerUpdate(of: nil)
        update.entitlementChange = .never
        update.add([artifact("purchase-\(id)", .transaction)], purchases: [purchase(id)])
        return update
    }
}

extension Store {
    /// Writes what a sync of one receipt writes: an artifact, and purchases with their order IDs.
    fileprivate func buy(_ numbers: [String], by id: String) async throws -> Customer {
        let identities = [Identity(.appTransactionID, id)] + numbers.map { Identity(.originalTransactionID, $0) }
        return try await update(identities, in: Sample.production, at: Sample.now) { known in
            var update = CustomerUpdate(of: known)
            for number in numbers.prefix(1) {
                update.add([Sample.artifact("receipt-\(id)-\(number)-\(numbers.count)", .receipt)])
            }
            update.add([], purchases: numbers.map { Sample.purchase($0) })
            update.identify(by: identities + numbers.map { Identity(.webOrderLineItemID, "order \($0)") })
            return (update, ())
        }.0
    }
}
