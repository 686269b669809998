import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let erasure: [StoreClause] = [
        StoreClause("who is erased leaves counts and lines, and begins anew") { store in
            let policy = try unwrap(
                try await store.record(policy: [1], sha256: [1], at: Sample.now).first?.version, "a version")
            let one = try await store.bring("1", purchases: ["a", "b"], promisedUnder: policy)
            let two = try await store.bring("2")
            let stays = try await store.bring("3")
            func show(_ id: String) async throws -> Customer {
                let named = Identity(.appTransactionID, id)
                let unbound = try await store.recordUnbound(
                    Identity(visitLedBy: .app, naming: named, showing: "hash"), naming: [named],
                    in: Sample.production, at: Sample.now, Sample.shown("1"))
                let shown = try unwrap(unbound, "a record")
                return shown.record
            }
            let visitor = try await show("1")
            let other = try await show("3")
            _ = try await store.act(.link(user: "u", .never), on: one, request: "r")
            _ = try await store.act(.grant(entitlement: "everything", until: nil), on: one)
            _ = try await store.act(.merge(other: two.publicID), on: one)
            let outcome = try await store.act(.erase, on: two, reason: "asked for it")
            guard case .erased(let counts) = outcome else {
                throw BrokenClause(description: "not erased: \(outcome)")
            }
            try expect(counts["customers"] == 3, "both, and the visitor: \(counts)")
            try expect(counts["artifacts"] == 5 && counts["promises"] == 1 && counts["support"] == 1, "\(counts)")
            for gone in [one, two, visitor] {
                try expect(try await store.customer(gone.id) == nil, "\(gone.publicID) is gone")
                try expect(try await store.customer(named: gone.publicID) == nil, "also by name")
            }
            for kept in [stays, other] { try expect(try await store.customer(kept.id) == kept, "others stay") }
            for id in ["1", "2", "u"] {
                try expect(try await store.customers(withAnyID: id, in: [Sample.production]).isEmpty, "nobody by \(id)")
            }
            let line = try unwrap(
                try await store.audit(before: nil, of: two.publicID, limit: 1).first, "the line of it")
            try expect(line.act == "erase" && line.detail["artifacts"] == "5", "with counts")
            let again = try await store.bring("1")
            try expect(again.publicID != one.publicID, "a new customer")
            try expect(![one.id, two.id, visitor.id].contains(again.id), "with a number that nobody had")
            try expect(again.facts.promises.isEmpty && again.facts.support.isEmpty, "who has nothing of before")
        },
        StoreClause("a number is never given twice") { store in
            let last = try await store.bring("1")
            _ = try await store.act(.erase, on: last)
            try expect(try await store.bring("2").id != last.id, "another number")
        },
        StoreClause("the dossier has everything, of all who are one") { store in
            let one = try await store.bring("1", purchases: ["a"])
            let two = try await store.bring("2")
            _ = try await store.act(.merge(other: two.publicID), on: one, reason: "one person")
            _ = try await store.act(.grant(entitlement: "everything", until: nil), on: two)
            let dossier = try unwrap(
                try await store.dossier(of: .publicID(two.publicID), with: [.bytes, .visits, .audit]), "the dossier")
            try expect(dossier.customer.publicID == one.publicID, "of whom they turned out to be")
            try expect(Set(dossier.members.map(\.publicID)) == [one.publicID, two.publicID], "both")
            try expect(
                dossier.artifacts.map(\.bytes)
                    == [
                        Sample.artifact("proof-1"), Sample.artifact("purchase-a", .transaction),
                        Sample.artifact("proof-2"),
                    ]
                    .map(\.bytes), "byte by byte")
            try expect(dossier.support.map(\.actor) == ["ada"], "support")
            try expect(dossier.events.map(\.kind) == [.merged], "events")
            try expect(Set(dossier.audit.map(\.act)) == ["merge", "grant"], "audit")
            let short = try unwrap(try await store.dossier(of: .number(two.id), with: []), "the same, in short")
            try expect(short.artifacts.allSatisfy { $0.bytes == nil } && short.artifacts.count == 3, "without bytes")
            try expect(try await store.dossier(of: .publicID("cus_nobody"), with: []) == nil, "nobody's is none")
        },
    ]
}
