import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let changes: [StoreClause] = [
        StoreClause("a grant by support and its line in the audit trail are written together") { store in
            let customer = try await store.bring("1")
            let until = Sample.now.addingTimeInterval(60)
            let outcome = try await store.change(
                .grant(entitlement: "everything", until: until), on: customer, reason: "a letter")
            try expect(outcome.isNew, "the grant is a change")
            try expect(
                try await store.present(customer).facts.support
                    == [SupportGrant(.grant, of: "everything", date: Sample.now, until: until)], "granted")
            let lines = try await store.read { try $0.audit(before: nil, of: customer.publicID, limit: 10) }
            try expect(lines.count == 1, "one line in the audit trail")
            try expect(lines[0].actor == "ada" && lines[0].action == "grant", "with the actor and the action")
            try expect(lines[0].detail["reason"] == "a letter", "with the reason")
        },
        StoreClause("of two changes by support, the change that was written last applies, whatever the clocks show") {
            store in
            let customer = try await store.bring("1")
            func perform(_ change: CustomerChange, after seconds: TimeInterval) async throws {
                _ = try await store.perform(
                    RequestedChange(change, actor: "ada", at: Sample.now.addingTimeInterval(seconds)),
                    on: .publicID(customer.publicID), using: Sample.rederivation)
            }
            func counts() async throws -> SupportGrant.Kind? {
                let present = try await store.present(customer)
                return present.facts.evidence(in: .production).support.first?.kind
            }
            let grant = CustomerChange.grant(entitlement: "everything", until: nil)
            try await perform(.revoke(entitlement: "everything"), after: 86_400)
            try expect(try await counts() == .revocation, "revoked")
            try await perform(grant, after: 0)
            try expect(try await counts() == .grant, "granted last, though its clock is a day behind")
            try await perform(.revoke(entitlement: "everything"), after: 86_400)
            try expect(try await counts() == .revocation, "revoked last, with the same date")
            try await perform(grant, after: 86_400)
            try expect(
                try await counts() == .grant, "granted last, though a revocation with the same date would override it")
        },
        StoreClause("a refused change writes only a line in the audit trail") { store in
            let customer = try await store.bring("1")
            let outcome = try await store.change(.merge(other: "cus_missing"), on: customer)
            try expect(outcome == .refused(.noSuchOther), "a merge with an unknown customer is refused")
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 10) }
            try expect(lines.map(\.detail["refused"]) == ["noSuchOther"], "with the reason in the audit trail")
            try expect(try await store.present(customer) == customer, "nothing changed")
        },
        StoreClause("the audit trail keeps no text that someone entered instead of a customer's ID") { store in
            let outcome = try await store.perform(
                RequestedChange(.erase, actor: "ada", at: Sample.now), on: .publicID("ada@example.com"),
                using: Sample.rederivation)
            try expect(outcome == .refused(.noSuchCustomer), "no such customer")
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 10) }
            try expect(lines.map(\.action) == ["erase"] && lines.first?.customer == nil, "\(lines)")
            let unknown = "cus_" + String(repeating: "2", count: 24)
            _ = try await store.perform(
                RequestedChange(.erase, actor: "ada", at: Sample.now), on: .publicID(unknown),
                using: Sample.rederivation)
            let line = try await store.read { try $0.audit(before: nil, of: unknown, limit: 9) }.first
            try expect(line?.detail == ["refused": "noSuchCustomer"], "a valid ID is kept: \(String(describing: line))")
            let customer = try await store.bring("1")
            _ = try await store.change(.merge(other: "ada@example.com"), on: customer)
            let merge = try unwrap(
                try await store.read { try $0.audit(before: nil, of: nil, limit: 1) }.first, "a line in the audit trail"
            )
            try expect(merge.action == "merge" && merge.detail == ["refused": "noSuchOther"], "\(merge)")
        },
        StoreClause("a change that is requested twice with one ID happens once") { store in
            let customer = try await store.bring("1")
            let grant = CustomerChange.grant(entitlement: "everything", until: nil)
            try expect(
                try await store.change(grant, on: customer, request: "r").isNew,
                "the first request with the ID is a change")
            try expect(
                try await !store.change(grant, on: customer, request: "r").isNew, "the second request changes nothing")
            try expect(try await store.present(customer).facts.support.count == 1, "one grant")
            try expect(
                try await store.read { try $0.audit(before: nil, of: nil, limit: 9) }.count == 1,
                "and one line in the audit trail")
            let other = try await store.bring("2")
            try expect(
                try await store.change(grant, on: other, request: "r").refusal == .requestReused,
                "another customer needs another ID")
            try expect(try await store.present(other).facts.support.isEmpty, "and gets nothing")
            _ = try await store.change(.revoke(entitlement: "everything"), on: customer, request: "q")
            try expect(
                try await !store.change(grant, on: customer, request: "r").isNew, "nor does it after another change")
            try expect(
                try await store.change(.revoke(entitlement: "everything"), on: customer, request: "r").refusal
                    == .requestReused, "another change needs another ID")
            _ = try await store.perform(
                RequestedChange(grant, actor: "ada", at: Sample.now.addingTimeInterval(32 * 86_400), request: "s"),
                on: .publicID(customer.publicID), using: Sample.rederivation)
            try expect(
                try await store.change(.revoke(entitlement: "everything"), on: customer, request: "r").isNew,
                "after a month the ID can be used again")
            try expect(
                try await !store.change(.revoke(entitlement: "everything"), on: customer, request: "r").isNew,
                "another request with the same ID changes nothing")
            try expect(
                try await store.change(
                    .grant(entitlement: "cloud", until: nil), on: customer, actor: "boris", request: "r"
                )
                .isNew, "another key can use the same ID")
        },
        StoreClause("the audit trail is read page by page, the latest line first") { store in
            let customer = try await store.bring("1")
            for number in 0..<5 {
                try await store.write {
                    try $0.audit(
                        AuditEntry(at: Sample.now, actor: "ada", action: "look", detail: ["number": String(number)]))
                }
            }
            let first = try await store.read { try $0.audit(before: nil, of: nil, limit: 2) }
            let second = try await store.read { try $0.audit(before: first.last?.id, of: nil, limit: 2) }
            try expect((first + second).map(\.detail["number"]) == ["4", "3", "2", "1"], "both pages in reverse order")
            try expect(
                try await store.read { try $0.audit(before: nil, of: customer.publicID, limit: 9) }.isEmpty,
                "no lines of a customer without changes")
        },
        StoreClause("an empty text is stored as an empty text, not as null") { store in
            try await store.write { try $0.audit(AuditEntry(at: Sample.now, actor: "", action: "look")) }
            let line = try await store.read { try $0.audit(before: nil, of: nil, limit: 1) }.first
            try expect(line?.actor == "" && line?.action == "look", "\(String(describing: line))")
        },
        StoreClause("an admin key works until it is revoked, and its name can't be used again") { store in
            let key = StoredAdminKey(name: "support", scope: .support, createdAt: Sample.now)
            try expect(
                try await store.write(locking: [.adminKeys]) { try $0.create(key, secret: [1, 2], actor: "command") },
                "the key is created")
            try expect(
                try await !store.write(locking: [.adminKeys]) { try $0.create(key, secret: [3], actor: "command") },
                "no second key gets the same name")
            try expect(
                try await store.read { try $0.key(withSecret: [1, 2]) } == key, "the key is found by its secret")
            try expect(try await store.read { try $0.key(withSecret: [1]) } == nil, "not by a part of the secret")
            let other = StoredAdminKey(name: "other", scope: .read, createdAt: Sample.now)
            try expect(
                try await !store.write(locking: [.adminKeys]) {
                    try $0.create(other, secret: [1, 2], actor: "command")
                },
                "no second key gets the same secret")
            try expect(
                try await store.write(at: Sample.now, locking: [.adminKeys]) {
                    try $0.revokeKey(named: "support", actor: "command")
                }?.revokedAt == Sample.now,
                "revoked")
            try expect(try await store.read { try $0.key(withSecret: [1, 2]) } == nil, "a revoked key isn't found")
            try expect(
                try await store.write(at: Sample.now, locking: [.adminKeys]) {
                    try $0.revokeKey(named: "support", actor: "x")
                } == nil, "a revoked key can't be revoked again")
            try expect(
                try await !store.write(locking: [.adminKeys]) { try $0.create(key, secret: [4], actor: "command") },
                "the name stays taken")
            try expect(try await store.read { try $0.keys() }.map(\.name) == ["support"], "still listed")
            try expect(
                try await store.read { try $0.audit(before: nil, of: nil, limit: 9) }.map(\.action) == [
                    "revokeKey", "createKey",
                ], "both changes are in the audit trail")
        },
        StoreClause("a customer is found by any ID, only in the requested environments") { store in
            let renewal = Purchase(
                transactionID: "22", originalTransactionID: "21", productID: "com.example.calculator.yearly",
                type: .autoRenewable, purchaseDate: Sample.now, signedDate: Sample.now)
            let customer = try await store.update("1") { update in
                update.identify(by: [Identity(.downloadID, "5"), Identity(.originalTransactionID, "21")])
                update.add([], purchases: [renewal])
            }
            _ = try await store.change(.link(user: "u", .never), on: customer)
            for id in [customer.publicID, "1", "5", "21", "22", "u"] {
                try expect(
                    try await store.read { try $0.customers(withAnyID: id, in: [Sample.production]) }.map(\.id) == [
                        customer.id
                    ],
                    "by \(id)")
                try expect(
                    try await store.read { try $0.customers(withAnyID: id, in: [Realm(.sandbox)]) }.isEmpty,
                    "not in the sandbox")
            }
            try expect(
                try await store.read { try $0.customers(withAnyID: "4711", in: [Sample.production]) }.isEmpty,
                "no customer has another ID")
        },
    ]
}
