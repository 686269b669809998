import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let links: [StoreClause] = [
        StoreClause("accounts of one user are one customer until the link ends") { store in
            let (one, two) = (try await store.bring("1", purchases: ["a"]), try await store.bring("2"))
            try await store.listen(Endpoint(name: "all"))
            try expect(try await store.change(.link(user: "u", .never), on: one).isNew, "the link is a change")
            try expect(
                try await !store.change(.link(user: "u", .never), on: one).isNew, "a repeated link changes nothing")
            _ = try await store.change(.link(user: "u", .never), on: two)
            try expect(try await store.present(two).id == one.id, "one customer")
            let events = try unwrap(try await store.read { try $0.rows(of: one.id) }, "the rows").events
            try expect(
                events.contains { $0.kind == .merged && $0.detail["because"] == "sameUser" }, "with the reason sameUser"
            )
            try expect(try await store.change(.unlink(user: "u"), on: two).isNew, "unlinked")
            try expect(try await store.present(two).facts == two.facts, "the second is as before")
            try expect(try await store.present(one).facts == one.facts, "the first account is as before")
            try expect(
                try await store.change(.unlink(user: "u"), on: two).refusal == .notLinked, "it isn't linked anymore")
            for customer in [one, two] {
                try expect(try await store.change(.link(user: "u", .never), on: customer).isNew, "linked again")
            }
            try expect(try await store.present(two).id == one.id, "one customer again")
            let messages = try await store.outbox().map(\.message)
            let data = Array(#"{"because":"sameUser","merged":"\#(two.publicID)"}"#.utf8)
            try expect(messages.map(\.type) == ["customer.merged", "customer.merged"], "for both merges: \(messages)")
            try expect(messages.allSatisfy { $0.publicID == one.publicID && $0.data == data }, "\(messages)")
            try expect(messages.allSatisfy { $0.userIDs == ["u"] }, "with the user: \(messages)")
        },
        StoreClause("unlinking a user who is linked to another customer is refused, and the link stays") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.change(.link(user: "u", .never), on: one)
            try expect(
                try await store.change(.unlink(user: "u"), on: two).refusal == .notLinked,
                "an unlinked customer can't be unlinked")
            let found = try await store.read { try $0.customers(withAnyID: "u", in: [Sample.production]) }
            try expect(found.map(\.id) == [one.id], "still linked")
        },
        StoreClause("with transfer never, an acquisition stays with its first user") { store in
            let one = try await store.bring("1")
            _ = try await store.change(.link(user: "u", .never), on: one)
            try expect(
                try await store.change(.link(user: "v", .never), on: one).refusal == .linkedToAnotherUser,
                "a link to a second user is refused")
            _ = try await store.change(.unlink(user: "u"), on: one)
            try expect(
                try await store.change(.link(user: "v", .never), on: one).isNew,
                "after the unlinking, another user can be linked")
        },
        StoreClause("with transfer newest, an acquisition moves to its latest user with its promise, and causes events")
        {
            store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let one = try await store.bring("1", purchases: ["a"])
            let two = try await store.bring("2", promisedUnder: policy)
            let three = try await store.bring("3", purchases: ["c"])
            for customer in [one, two] { _ = try await store.change(.link(user: "u", .newest), on: customer) }
            _ = try await store.change(.link(user: "v", .newest), on: three)
            try expect(
                try await store.change(.link(user: "v", .newest), on: two).isNew,
                "the acquisition moved to the other user")
            try expect(
                try await store.present(two).id == three.id, "the acquisition belongs to the newest user's customer")
            try expect(try await store.present(three).facts.promises == two.facts.promises, "with its promise")
            try expect(try await store.present(one).facts == one.facts, "the first keeps the rest")
            for customer in [one, three] {
                let events = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows").events
                let event = try unwrap(events.last { $0.kind == .transferred }, "an event on \(customer.publicID)")
                try expect(event.detail["promises"] == "everything", "with the promised entitlement")
            }
            try expect(
                try await store.read { try $0.customers(withAnyID: "u", in: [Sample.production]) }.map(\.id) == [
                    one.id
                ],
                "the first user keeps the other acquisition")
        },
        StoreClause("with transfer newest, the customer into whom other customers were merged can move") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            for customer in [one, two, three] { _ = try await store.change(.link(user: "u", .newest), on: customer) }
            _ = try await store.change(.link(user: "v", .newest), on: one)
            try expect(try await store.present(one).facts == one.facts, "separate again")
            try expect(
                try await store.present(two).id == (try await store.present(three).id), "the other two stay merged")
            try expect(try await store.present(three).facts.proofs.count == 2, "with the proofs of both")
            try expect(
                try await store.read { try $0.customers(withAnyID: "u", in: [Sample.production]) }.map(\.id) == [
                    two.id
                ], "user u has the second account")
            try expect(
                try await store.read { try $0.customers(withAnyID: "v", in: [Sample.production]) }.map(\.id) == [
                    one.id
                ], "user v has the first account")
        },
        StoreClause("with transfer newest, moving the only acquisition of a user leaves no link behind") { store in
            let one = try await store.bring("1")
            _ = try await store.change(.link(user: "u", .newest), on: one)
            _ = try await store.change(.link(user: "v", .newest), on: one)
            try expect(
                try await store.read { try $0.customers(withAnyID: "u", in: [Sample.production]) }.isEmpty,
                "u has no customer"
            )
            let events = try unwrap(try await store.read { try $0.rows(of: one.id) }, "the rows").events
            try expect(events.map(\.kind) == [.linked, .unlinked, .transferred], "an event for each step")
        },
        StoreClause("with transfer share, two users with one acquisition are one customer") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.change(.link(user: "u", .share), on: one)
            _ = try await store.change(.link(user: "v", .share), on: two)
            try expect(
                try await store.change(.link(user: "v", .share), on: one).isNew,
                "the link to the second user is a change")
            try expect(try await store.present(one).id == two.id, "one customer")
            try expect(try await store.present(one).facts.proofs.count == 2, "with the proofs of both")
        },
        StoreClause("signed data doesn't merge customers of different users") { store in
            let named = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let account = try await store.bring("1")
            let early = try await store.bring(by: [named[1]], purchase: "x")
            for (customer, user) in [(account, "u"), (early, "v")] {
                _ = try await store.change(.link(user: user, .never), on: customer)
            }
            func nameBoth() async throws -> Bool {
                _ = try await store.update(named, in: Sample.production, at: Sample.now) {
                    (CustomerUpdate(of: $0), ())
                }
                return try await store.present(account).id == (try await store.present(early).id)
            }
            try expect(try await !nameBoth(), "two customers")
            try expect(try await store.present(account).facts == account.facts, "each with their own facts")
            _ = try await store.change(.unlink(user: "v"), on: early)
            try expect(try await nameBoth(), "one customer, as soon as only one of them has a user")
        },
        StoreClause("the end of one user's link separates no customers whom another user's link merged") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            for (customer, user) in [(one, "u"), (two, "u"), (three, "v"), (two, "v")] {
                _ = try await store.change(.link(user: user, .share), on: customer)
            }
            try expect(try await store.present(one).id == (try await store.present(three).id), "all are merged")
            try expect(try await store.change(.unlink(user: "v"), on: two).isNew, "unlinked")
            try expect(try await store.present(three).facts == three.facts, "v's customer is as before")
            try expect(
                try await store.present(one).id == (try await store.present(two).id), "u's customers stay merged")
        },
        StoreClause("the end of a user's link separates no customers whom support merged since an earlier link") {
            store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            for customer in [one, two] { _ = try await store.change(.link(user: "u", .never), on: customer) }
            _ = try await store.change(.unlink(user: "u"), on: two)
            try expect(try await store.present(two).id == two.id, "separate again")
            _ = try await store.change(.merge(other: two.publicID), on: one)
            _ = try await store.change(.link(user: "u", .never), on: one)
            try expect(try await store.change(.unlink(user: "u"), on: one).isNew, "unlinked")
            try expect(try await store.present(two).id == (try await store.present(one).id), "still merged by support")
        },
        StoreClause("after one of three linked customers moved, the end of the link separates the other two") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            for customer in [one, two, three] { _ = try await store.change(.link(user: "u", .newest), on: customer) }
            _ = try await store.change(.link(user: "v", .newest), on: one)
            try expect(try await store.present(two).id == (try await store.present(three).id), "the others stay")
            try expect(try await store.change(.unlink(user: "u"), on: three).isNew, "unlinked")
            for customer in [two, three] {
                try expect(try await store.present(customer).facts == customer.facts, "\(customer.publicID) is alone")
            }
        },
        StoreClause("with transfer newest, an account moves although the former customer's other account can't") {
            store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            _ = try await store.change(.merge(other: three.publicID), on: one)
            _ = try await store.change(.unmerge(other: three.publicID), on: one)
            for (customer, user) in [(one, "u"), (two, "u"), (three, "v")] {
                _ = try await store.change(.link(user: user, .newest), on: customer)
            }
            try expect(
                try await store.change(.link(user: "v", .newest), on: one).refusal == .separated, "support separated it"
            )
            try expect(try await store.change(.link(user: "v", .newest), on: two).isNew, "moved")
            try expect(try await store.present(two).id == (try await store.present(three).id), "to the third")
            try expect(try await store.present(one).facts == one.facts, "from the first")
        },
        StoreClause("the event of a link lists the promised entitlements by name, with the user and the key") { store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let customer = try await store.update("1") { update in
                for name in ["everything", "cloud", "maps"] { update.promise(Sample.promise(name, policy: policy)) }
            }
            _ = try await store.change(.link(user: "u", .never), on: customer, actor: "app")
            let events = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows").events
            try expect(events.map(\.kind) == [.linked] && events[0].actor == "app", "\(events)")
            try expect(events[0].detail == ["user": "u", "promises": "cloud, everything, maps"], "\(events)")
        },
        StoreClause("one user ID in two environments is two customers") { store in
            let one = try await store.bring("1")
            let sandbox = try await store.update("1", in: Realm(.sandbox)) { _ in }
            _ = try await store.change(.link(user: "u", .never), on: one)
            _ = try await store.change(.link(user: "u", .never), on: sandbox)
            try expect(try await store.present(one).id != (try await store.present(sandbox).id), "two customers")
        },
    ]
}
