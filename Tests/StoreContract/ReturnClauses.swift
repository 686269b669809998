import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let returns: [StoreClause] = [
        StoreClause("who was erased is made of nothing that the App Store sends, until they use the app again") {
            store in
            let subscription = Identity(.originalTransactionID, "x")
            let one = try await store.amend(
                [Identity(.appTransactionID, "1"), subscription], in: Sample.production, at: Sample.now
            ) { (Amendment(of: $0), ()) }.0
            _ = try await store.tell("before", about: [subscription])
            _ = try await store.act(.erase, on: one)
            for (uuid, identities) in [
                ("before", [subscription]), ("after", [subscription]),
                ("new purchase", [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "y")]),
            ] {
                let reception = try await store.tell(uuid, about: identities)
                try expect(reception.isOfErased && !reception.isNew && reception.customer == nil, "\(uuid)")
                try expect(try await !store.keepsNotification(uuid, in: Sample.production), "\(uuid) is not kept")
            }
            try expect(try await store.customers(after: 0, limit: 9).isEmpty, "nobody is there")
            let other = try await store.tell("other", about: [Identity(.originalTransactionID, "z")])
            try expect(other.isNew && other.customer != nil, "others are as ever")
            try expect(
                try await store.tell("sandbox", about: [subscription], in: Realm(.sandbox)).isNew, "so are other realms"
            )
            let again = try await store.bring("1")
            let reception = try await store.tell(
                "later", about: [Identity(.appTransactionID, "1"), subscription])
            try expect(reception.isNew && reception.customer?.id == again.id, "who came back is told of")
        },
        StoreClause("what was asked of somebody makes nobody of who was erased meanwhile") { store in
            let one = try await store.bring("1")
            _ = try await store.act(.erase, on: one)
            let amended = try await store.amend(one, by: [Identity(.appTransactionID, "1")], at: Sample.now) {
                (Amendment(of: $0), ())
            }
            try expect(amended == nil, "nothing was added")
            try expect(try await store.customers(after: 0, limit: 9).isEmpty, "nobody is there")
            let two = try await store.bring("2")
            let added = try await store.amend(two, by: [Identity(.appTransactionID, "2")], at: Sample.now) {
                (Amendment(of: $0), ())
            }
            try expect(added?.0.id == two.id, "who is there gets it")
        },
        StoreClause("finishing the work on who was erased leaves the work of others alone") { store in
            _ = try await store.amend("1") { $0.jobs = [.history] }
            let job = try unwrap(try await store.claimJob(.history, at: Sample.now, lease: 60), "the job")
            _ = try await store.act(.erase, on: job.customer)
            // It may get the number that the other had.
            let two = try await store.amend("2") { $0.jobs = [.history] }
            try await store.postpone(job, until: Sample.now.addingTimeInterval(1e6))
            try await store.finish(job)
            try expect(
                try await store.claimJob(.history, at: Sample.now, lease: 60)?.customer.id == two.id, "it is there")
        },
    ]
}

extension Store {
    fileprivate func tell(
        _ uuid: String, about identities: [Identity], in realm: Realm = Sample.production
    ) async throws -> Reception {
        let notification = StoredNotification(
            realm: realm, uuid: uuid, type: "DID_RENEW", subtype: nil, signedDate: Sample.now,
            bytes: Sample.header + Array(".\(uuid).c2lnbmF0dXJl".utf8))
        return try await receive(notification, about: identities, at: Sample.now) { Amendment(of: $0) }
    }
}
