import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Changes of which accounts are one customer, if the customers are large.
    static let largeMerges: [StoreClause] = [
        StoreClause("large customers are merged, unmerged, linked and unlinked in short transactions") { store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            let one = try await counted.show(0..<2000, by: "one")
            let two = try await counted.show(5000..<7000, by: "two")
            _ = try await counted.change(.link(user: "u", .never), on: one)
            let changes: [(CustomerChange, Customer, isOne: Bool)] = [
                (.merge(other: two.publicID), one, true), (.unmerge(other: two.publicID), one, false),
                (.merge(other: one.publicID), two, true), (.unmerge(other: one.publicID), two, false),
                (.merge(other: two.publicID), one, true), (.unmerge(other: two.publicID), one, false),
            ]
            for (number, (change, customer, isOne)) in changes.enumerated() {
                try await counted.expectShort(change, on: customer, than: ordinary, "\(number): \(change.name)")
                for known in [one, two] { try await store.expect(isOne ? 4000 : 2000, of: known) }
            }
        },
        StoreClause("large accounts of one user become one customer in short transactions, and are separated again") {
            store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            let one = try await counted.show(0..<2000, by: "one")
            let two = try await counted.show(5000..<7000, by: "two")
            let changes: [(CustomerChange, Customer, isOne: Bool)] = [
                (.link(user: "u", .never), one, false), (.link(user: "u", .never), two, true),
                (.link(user: "v", .newest), two, false), (.link(user: "u", .newest), two, true),
                (.unlink(user: "u"), one, false),
            ]
            for (number, (change, customer, isOne)) in changes.enumerated() {
                try await counted.expectShort(
                    change, on: customer, than: ordinary, "\(number): \(change.name)", combines: number > 0)
                for known in [one, two] { try await store.expect(isOne ? 4000 : 2000, of: known) }
            }
        },
        StoreClause("a merge and its undoing keep what other transactions write to large customers meanwhile") {
            store in
            let counted = store.counted
            let one = try await counted.show(0..<2000, by: "one")
            let two = try await counted.show(5000..<7000, by: "two")
            for (round, change) in [CustomerChange.merge(other: two.publicID), .unmerge(other: two.publicID)]
                .enumerated()
            {
                counted.counts.reset { number in
                    guard (2...4).contains(number) else { return }
                    let first = 9000 + 10 * round + number
                    _ = try await store.show(first..<first + 1, by: "two")
                }
                try expect(try await counted.change(change, on: one).isNew, change.name)
                try expect(counted.counts.writes.count > 4, "written to meanwhile")
                counted.counts.reset()
                try await store.expect(round == 0 ? 4003 : 2000, of: one)
                try await store.expect(round == 0 ? 4003 : 2006, of: two)
            }
        },
        StoreClause("an interrupted merge, or undoing of a merge, changes nothing and can be repeated") { store in
            let counted = store.counted
            let one = try await counted.show(0..<2000, by: "one")
            let two = try await counted.show(5000..<7000, by: "two")
            for change in [CustomerChange.merge(other: two.publicID), .unmerge(other: two.publicID)] {
                let before = [try await store.present(one), try await store.present(two)]
                var (broken, isDone) = (0, false)
                while !isDone {
                    broken += 1
                    let last = broken
                    counted.counts.reset { if $0 == last { throw BrokenClause(description: "broken") } }
                    do {
                        isDone = try await counted.change(change, on: one).isNew
                    } catch StoreError.failed {
                        let after = [try await store.present(one), try await store.present(two)]
                        try expect(after == before, "\(change.name), \(broken): nothing changed")
                        let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 10) }
                        try expect(lines.allSatisfy { $0.action != change.name }, "and nothing is in the audit trail")
                    }
                }
                counted.counts.reset()
                try expect(broken > 3, "\(change.name): several attempts: \(broken)")
                let isOne = change.name == "merge"
                for known in [one, two] { try await store.expect(isOne ? 4000 : 2000, of: known) }
            }
        },
    ]
}

extension Store {
    /// Performs a change of this counted store's customers, and expects that slow work is done outside of transactions.
    fileprivate func expectShort(
        _ change: CustomerChange, on customer: Customer, than ordinary: CountedDatabase.Transaction, _ name: String,
        combines: Bool = true
    ) async throws {
        let (outcome, work) = try await measured { count in
            let rederivation = Rederivation { entries throws(StoreError) in
                count(entries.artifacts.count)
                return try Sample.proven(by: entries.artifacts.map(\.artifact))
            }
            return try await perform(
                RequestedChange(change, actor: "ada", at: Sample.now), on: .publicID(customer.publicID),
                using: rederivation)
        }
        guard case .done(_, true) = outcome else { throw BrokenClause(description: "\(name): \(outcome)") }
        try work.expectShort(than: ordinary, name)
        if combines {
            try StoreContract.expect(work.outside >= 2000, "\(name): \(work.outside) entries combined outside")
        }
    }

    /// Expects this number of purchases, and facts that equal what the rows prove.
    fileprivate func expect(_ purchases: Int, of customer: Customer) async throws {
        let now = try await present(customer)
        try StoreContract.expect(
            now.facts.purchases.count == purchases, "\(purchases) purchases: \(now.facts.purchases.count)")
        let rows = try unwrap(try await read { try $0.rows(of: customer.id) }, "the rows")
        try StoreContract.expect(try Sample.facts(of: rows) == now.facts, "as the rows prove")
    }
}
