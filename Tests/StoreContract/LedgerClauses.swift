import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let ledger: [StoreClause] = [
        StoreClause("artifacts come back byte by byte, in their order") { store in
            let sent = [
                Sample.artifact("a"), Sample.artifact("b", .transaction), Sample.artifact("c", .renewalInfo),
                Sample.artifact("0\u{82}", .receipt),
            ]
            let customer = try await store.amend { $0.add(sent) }
            try expect(try await store.artifacts(of: customer.id) == sent, "the same artifacts")
        },
        StoreClause("the same artifact twice changes nothing") { store in
            let first = try await store.amend { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            let second = try await store.amend { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            try expect(first == second, "the same customer")
            try expect(try await store.artifacts(of: first.id).count == 1, "one artifact")
        },
        StoreClause("two customers may have sent the same artifact") { store in
            let one = try await store.amend("1") { $0.add([Sample.artifact("a")]) }
            let two = try await store.amend("2") { $0.add([Sample.artifact("a")]) }
            try expect(try await store.artifacts(of: one.id).count == 1, "the first has it")
            try expect(try await store.artifacts(of: two.id).count == 1, "so has the second")
        },
        StoreClause("the latest word on a transaction counts, in any order") { store in
            let customer = try await store.amend {
                $0.add([], purchases: [Sample.purchase("1", signed: 2, revoked: true)])
            }
            _ = try await store.amend { $0.add([], purchases: [Sample.purchase("1", signed: 1)]) }
            let seen = try unwrap(try await store.customer(customer.id), "the customer")
            try expect(seen.facts.purchases == [Sample.purchase("1", signed: 2, revoked: true)], "the refund stands")
        },
        StoreClause("that all purchases are known stays known") { store in
            _ = try await store.amend { $0.completePurchases() }
            let later = try await store.amend { $0.add([], proving: [Sample.proof()]) }
            try expect(later.facts.purchasesAreComplete, "complete")
        },
    ]

    static let promises: [StoreClause] = [
        StoreClause("a promise is kept once, and stays") { store in
            let policy = try unwrap(
                try await store.record(policy: [1], sha256: [1], at: Sample.now).first?.version, "a version")
            let promise = Sample.promise(policy: policy)
            let customer = try await store.amend { $0.promise(promise) }
            _ = try await store.amend { $0.promise(promise) }
            try expect(try await store.promises(of: customer.id) == [promise], "in the ledger")
            try expect(try await store.customer(customer.id)?.facts.promises == [promise], "and beside the customer")
        },
        StoreClause("promises of another version, entitlement or end are others") { store in
            let one = try unwrap(try await store.record(policy: [1], sha256: [1], at: Sample.now).last?.version, "1")
            let two = try unwrap(try await store.record(policy: [2], sha256: [2], at: Sample.now).last?.version, "2")
            let promises = [
                Sample.promise(policy: one), Sample.promise(policy: two), Sample.promise("cloud", policy: one),
                Sample.promise(policy: one, until: Sample.now.addingTimeInterval(0.25)),
            ]
            let customer = try await store.amend { amendment in promises.forEach { amendment.promise($0) } }
            try expect(try await store.promises(of: customer.id) == promises, "all four")
        },
    ]

    static let support: [StoreClause] = [
        StoreClause("an act of support stands beside the customer, once") { store in
            let customer = try await store.amend { _ in }
            let grant = SupportAct(.grant, of: "everything", date: Sample.now, until: Sample.now.addingTimeInterval(60))
            _ = try await store.record(grant, for: customer.id)
            let after = try unwrap(try await store.record(grant, for: customer.id), "the customer")
            try expect(after.facts.support == [grant], "one grant")
            try expect(try await store.customer(customer.id)?.evidence.support == [grant], "in evidence")
            let revocation = SupportAct(.revocation, of: "everything", date: Sample.now.addingTimeInterval(1))
            let last = try unwrap(try await store.record(revocation, for: customer.id), "the customer")
            try expect(last.evidence.support == [revocation], "the latest counts")
        },
        StoreClause("support cannot act on nobody") { store in
            let act = SupportAct(.grant, of: "everything", date: Sample.now)
            try expect(try await store.record(act, for: 4711) == nil, "nil")
        },
    ]

    static let policies: [StoreClause] = [
        StoreClause("policies have versions that count up from 1 and never change") { store in
            _ = try await store.record(policy: [1, 2], sha256: [1], at: Sample.now)
            _ = try await store.record(policy: [3], sha256: [2], at: Sample.now)
            let again = try await store.record(policy: [1, 2], sha256: [1], at: Sample.now.addingTimeInterval(9))
            try expect(again.map(\.version) == [1, 2], "two versions")
            try expect(again.map(\.compiled) == [[1, 2], [3]], "as they were recorded")
            try expect(again.map(\.recordedAt) == [Sample.now, Sample.now], "when they were recorded first")
        }
    ]
}
