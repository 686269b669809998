import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let erasure: [StoreClause] = [
        StoreClause("an erasure leaves only counts and audit lines, and the person returns as a new customer") {
            store in
            let policy = try await store.record(policy: [1], sha256: [1])
            try await store.listen(Endpoint(name: "all"))
            let one = try await store.bring("1", purchases: ["a", "b"], promisedUnder: policy)
            let two = try await store.bring("2")
            let stays = try await store.bring("3")
            func show(_ id: String) async throws -> Customer {
                let named = Identity(.appTransactionID, id)
                let unbound = try await store.recordUnbound(
                    Identity(unboundLedBy: .app, naming: named, digest: "hash"), naming: [named],
                    in: Sample.production, at: Sample.now, Sample.shown("1"))
                let shown = try unwrap(unbound, "an unbound customer")
                return shown.unbound
            }
            let unbound = try await show("1")
            let other = try await show("3")
            _ = try await store.change(.link(user: "u", .never), on: one, request: "r")
            _ = try await store.change(.grant(entitlement: "everything", until: nil), on: one)
            _ = try await store.change(.merge(other: two.publicID), on: one)
            try await store.write(at: Sample.now) {
                _ = try $0.beginTrialSession("s", of: "everything", for: two.id) { _, _ in true }
            }
            let outcome = try await store.change(.erase, on: two, reason: "asked for it")
            guard case .erased(let counts) = outcome else {
                throw BrokenClause(description: "not erased: \(outcome)")
            }
            try expect(counts["customers"] == 3, "both customers and the unbound one: \(counts)")
            try expect(counts["artifacts"] == 5 && counts["promises"] == 1 && counts["support"] == 1, "\(counts)")
            try expect(counts["trialSessions"] == 1, "\(counts)")
            let messages = try await store.outbox().map(\.message)
            try expect(messages.map(\.type) == ["customer.erased"], "\(messages)")
            try expect(messages.first?.publicID == one.publicID, "about the customer with both accounts: \(messages)")
            try expect(messages.first?.userIDs == [] && messages.first?.data == Array("{}".utf8), "\(messages)")
            try expect(
                try await store.read { try $0.session.row("SELECT 1 FROM trial_sessions") == nil },
                "no trial session is left")
            for gone in [one, two, unbound] {
                try expect(try await store.lookUp(gone.id) == nil, "\(gone.publicID) is gone")
                try expect(try await store.read { try $0.customer(named: gone.publicID) } == nil, "also by public ID")
            }
            for kept in [stays, other] { try expect(try await store.lookUp(kept.id) == kept, "others stay") }
            for id in ["1", "2", "u"] {
                try expect(
                    try await store.read { try $0.customers(withAnyID: id, in: [Sample.production]) }.isEmpty,
                    "no customer has the ID \(id)")
            }
            let line = try unwrap(
                try await store.read { try $0.audit(before: nil, of: two.publicID, limit: 1) }.first, "the audit line")
            try expect(
                line.action == "erase" && line.detail["artifacts"] == "5", "the line has the number of erased artifacts"
            )
            let again = try await store.bring("1")
            try expect(again.publicID != one.publicID, "a new customer")
            try expect(![one.id, two.id, unbound.id].contains(again.id), "with a number that no customer had")
            try expect(
                again.facts.promises.isEmpty && again.facts.support.isEmpty, "without the earlier promises and grants")
        },
        StoreClause("an erasure removes only the erased customer's examples from the reports of rehearsals") { store in
            let start = try await store.startFirstPolicy()
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            let (erased, kept) = (#""\#(one.publicID)""#, #""\#(two.publicID)""#)
            let reports = [
                (
                    "a", #"{"examples":[{"customer":\#(erased),"gains":["x"]},{"customer":\#(kept)}],"gaining":2}"#,
                    #"{"examples":[{"customer":\#(kept)}],"gaining":2}"#
                ),
                ("b", #"{"examples":[\#(kept)], "losing": 1}"#, #"{"examples":[\#(kept)], "losing": 1}"#),
                ("c", #"{"losing":[[\#(erased)],[\#(kept)]]}"#, #"{"losing":[[],[\#(kept)]]}"#),
            ]
            for (id, report, _) in reports {
                let rehearsal = StoredRehearsal(
                    id: id, base: start.id, sha256: [2], at: Sample.now, actor: "ada", gaining: 2, losing: 0,
                    losingWithPromises: 0, report: Array(report.utf8))
                try await store.write { try $0.record(rehearsal) }
            }
            _ = try await store.change(.erase, on: one)
            for (id, _, expected) in reports {
                let report = try await store.read { try $0.rehearsal(id) }?.report ?? []
                try expect(String(decoding: report, as: UTF8.self) == expected, "\(id): \(report)")
            }
        },
        StoreClause("the number of an erased customer is never assigned again") { store in
            let last = try await store.bring("1")
            _ = try await store.change(.erase, on: last)
            try expect(try await store.bring("2").id != last.id, "the new customer has another number")
        },
        StoreClause("the details include the data of all merged customers") { store in
            let one = try await store.bring("1", purchases: ["a"])
            let two = try await store.bring("2")
            _ = try await store.change(.merge(other: two.publicID), on: one, reason: "one person")
            _ = try await store.change(.grant(entitlement: "everything", until: nil), on: two)
            let details = try unwrap(
                try await store.read { try $0.details(of: .publicID(two.publicID), with: [.bytes, .unbound, .audit]) },
                "the details")
            try expect(details.customer.publicID == one.publicID, "the customer into whom they were merged")
            try expect(
                Set(details.members.map(\.publicID)) == [one.publicID, two.publicID],
                "the details list both merged customers")
            try expect(
                details.artifacts.map(\.bytes)
                    == [
                        Sample.artifact("proof-1"), Sample.artifact("purchase-a", .transaction),
                        Sample.artifact("proof-2"),
                    ]
                    .map(\.bytes), "byte by byte")
            try expect(details.support.map(\.actor) == ["ada"], "support")
            try expect(details.events.map(\.kind) == [.merged], "events")
            try expect(Set(details.audit.map(\.action)) == ["merge", "grant"], "audit")
            let short = try unwrap(
                try await store.read { try $0.details(of: .rowID(two.id), with: []) }, "the details without options")
            try expect(short.artifacts.allSatisfy { $0.bytes == nil } && short.artifacts.count == 3, "without bytes")
            try expect(
                try await store.read { try $0.details(of: .publicID("cus_missing"), with: []) } == nil,
                "an unknown customer has no details")
        },
    ]
}
