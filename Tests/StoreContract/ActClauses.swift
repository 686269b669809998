import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let acts: [StoreClause] = [
        StoreClause("an act of support and its line in the audit trail are one") { store in
            let customer = try await store.bring("1")
            let until = Sample.now.addingTimeInterval(60)
            let outcome = try await store.act(
                .grant(entitlement: "everything", until: until), on: customer, reason: "a letter")
            try expect(outcome.isNew, "done")
            try expect(
                try await store.present(customer).facts.support
                    == [SupportAct(.grant, of: "everything", date: Sample.now, until: until)], "granted")
            let lines = try await store.audit(before: nil, of: customer.publicID, limit: 10)
            try expect(lines.count == 1, "one line")
            try expect(lines[0].actor == "ada" && lines[0].act == "grant", "who and what")
            try expect(lines[0].detail["reason"] == "a letter", "and why")
        },
        StoreClause("of two acts of support the one that was done last counts, whatever the clocks said") { store in
            let customer = try await store.bring("1")
            func perform(_ act: CustomerAct, after seconds: TimeInterval) async throws {
                _ = try await store.perform(
                    RequestedAct(act, actor: "ada", at: Sample.now.addingTimeInterval(seconds)),
                    on: .publicID(customer.publicID), by: Sample.rederivation)
            }
            func counts() async throws -> SupportAct.Kind? {
                let present = try await store.present(customer)
                return present.facts.evidence(in: .production).support.first?.kind
            }
            let grant = CustomerAct.grant(entitlement: "everything", until: nil)
            try await perform(.revoke(entitlement: "everything"), after: 86_400)
            try expect(try await counts() == .revocation, "revoked")
            try await perform(grant, after: 0)
            try expect(try await counts() == .grant, "the clock was set back a day")
            try await perform(.revoke(entitlement: "everything"), after: 86_400)
            try expect(try await counts() == .revocation, "in the same millisecond")
            try await perform(grant, after: 86_400)
            try expect(try await counts() == .grant, "also where the revocation would win")
        },
        StoreClause("a refused act changes nothing and leaves its line") { store in
            let customer = try await store.bring("1")
            let outcome = try await store.act(.merge(other: "cus_nobody"), on: customer)
            try expect(outcome == .refused(.noSuchOther), "refused")
            let lines = try await store.audit(before: nil, of: nil, limit: 10)
            try expect(lines.map(\.detail["refused"]) == ["noSuchOther"], "and told")
            try expect(try await store.present(customer) == customer, "nothing changed")
        },
        StoreClause("the audit trail keeps no name that a person wrote in place of a customer's id") { store in
            let outcome = try await store.perform(
                RequestedAct(.erase, actor: "ada", at: Sample.now), on: .publicID("ada@example.com"),
                by: Sample.rederivation)
            try expect(outcome == .refused(.noSuchCustomer), "nobody")
            let lines = try await store.audit(before: nil, of: nil, limit: 10)
            try expect(lines.map(\.act) == ["erase"] && lines.first?.customer == nil, "\(lines)")
            let customer = try await store.bring("1")
            _ = try await store.act(.merge(other: "ada@example.com"), on: customer)
            let merge = try unwrap(try await store.audit(before: nil, of: nil, limit: 1).first, "a line")
            try expect(merge.act == "merge" && merge.detail == ["refused": "noSuchOther"], "\(merge)")
        },
        StoreClause("what is asked for twice under one id happens once") { store in
            let customer = try await store.bring("1")
            let grant = CustomerAct.grant(entitlement: "everything", until: nil)
            try expect(try await store.act(grant, on: customer, request: "r").isNew, "done")
            try expect(try await !store.act(grant, on: customer, request: "r").isNew, "done before")
            try expect(try await store.present(customer).facts.support.count == 1, "one grant")
            try expect(
                try await store.act(.revoke(entitlement: "everything"), on: customer, request: "r").refusal
                    == .requestReused, "another act is another request")
            _ = try await store.perform(
                RequestedAct(grant, actor: "ada", at: Sample.now.addingTimeInterval(32 * 86_400), request: "s"),
                on: .publicID(customer.publicID), by: Sample.rederivation)
            try expect(
                try await store.act(.revoke(entitlement: "everything"), on: customer, request: "r").isNew,
                "after a month an id is free again")
            try expect(
                try await !store.act(.revoke(entitlement: "everything"), on: customer, request: "r").isNew, "once")
            try expect(
                try await store.act(
                    .grant(entitlement: "cloud", until: nil), on: customer, actor: "boris", request: "r"
                )
                .isNew, "ids are each key's own")
        },
        StoreClause("the audit trail is read backwards, page by page") { store in
            let customer = try await store.bring("1")
            for number in 0..<5 {
                try await store.audit(
                    AuditEntry(at: Sample.now, actor: "ada", act: "look", detail: ["number": String(number)]))
            }
            let first = try await store.audit(before: nil, of: nil, limit: 2)
            let second = try await store.audit(before: first.last?.id, of: nil, limit: 2)
            try expect((first + second).map(\.detail["number"]) == ["4", "3", "2", "1"], "in their order")
            try expect(try await store.audit(before: nil, of: customer.publicID, limit: 9).isEmpty, "none of theirs")
        },
        StoreClause("a key opens until it is revoked, and its name is its own for ever") { store in
            let key = RecordedKey(name: "desk", scope: .support, createdAt: Sample.now)
            try expect(try await store.create(key, secret: [1, 2], actor: "console"), "made")
            try expect(try await !store.create(key, secret: [3], actor: "console"), "not twice")
            try expect(try await store.key(withSecret: [1, 2]) == key, "found")
            try expect(try await store.key(withSecret: [1]) == nil, "not by less")
            try expect(
                try await store.revokeKey(named: "desk", at: Sample.now, actor: "console")?.revokedAt == Sample.now,
                "revoked")
            try expect(try await store.key(withSecret: [1, 2]) == nil, "opens nothing")
            try expect(try await store.revokeKey(named: "desk", at: Sample.now, actor: "x") == nil, "once")
            try expect(try await !store.create(key, secret: [4], actor: "console"), "no other of that name")
            try expect(try await store.keys().map(\.name) == ["desk"], "still listed")
            try expect(
                try await store.audit(before: nil, of: nil, limit: 9).map(\.act) == ["revokeKey", "createKey"], "told")
        },
        StoreClause("a customer is found by any id, in the realms that were asked") { store in
            let renewal = Purchase(
                transactionID: "22", originalTransactionID: "21", productID: "com.example.calculator.yearly",
                type: .autoRenewable, purchaseDate: Sample.now, signedDate: Sample.now)
            let customer = try await store.amend("1") { amendment in
                amendment.identify(by: [Identity(.downloadID, "5"), Identity(.originalTransactionID, "21")])
                amendment.add([], purchases: [renewal])
            }
            _ = try await store.act(.link(user: "u", .never), on: customer)
            for id in [customer.publicID, "1", "5", "21", "22", "u"] {
                try expect(
                    try await store.customers(withAnyID: id, in: [Sample.production]).map(\.id) == [customer.id],
                    "by \(id)")
                try expect(try await store.customers(withAnyID: id, in: [Realm(.sandbox)]).isEmpty, "not elsewhere")
            }
            try expect(try await store.customers(withAnyID: "4711", in: [Sample.production]).isEmpty, "nobody else")
        },
    ]
}
