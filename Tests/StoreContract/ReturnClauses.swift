import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let returns: [StoreClause] = [
        StoreClause("notifications don't recreate an erased customer until the customer uses the app again") {
            store in
            let subscription = Identity(.originalTransactionID, "x")
            let one = try await store.update(
                [Identity(.appTransactionID, "1"), subscription], in: Sample.production, at: Sample.now
            ) { (CustomerUpdate(of: $0), ()) }.0
            _ = try await store.tell("before", about: [subscription])
            _ = try await store.change(.erase, on: one)
            for (uuid, identities) in [
                ("before", [subscription]), ("after", [subscription]),
                ("new purchase", [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "y")]),
                ("new purchase first", [Identity(.originalTransactionID, "y"), Identity(.appTransactionID, "1")]),
            ] {
                let reception = try await store.tell(uuid, about: identities)
                try expect(reception.isOfErasedCustomer && !reception.isNew && reception.customer == nil, "\(uuid)")
                try expect(try await !store.keepsNotification(uuid, in: Sample.production), "\(uuid) isn't kept")
            }
            try expect(try await store.read { try $0.customers(after: 0, limit: 9) }.isEmpty, "there is no customer")
            let other = try await store.tell("other", about: [Identity(.originalTransactionID, "z")])
            try expect(other.isNew && other.customer != nil, "other customers are unaffected")
            try expect(
                try await store.tell("sandbox", about: [subscription], in: Realm(.sandbox)).isNew,
                "so are other environments"
            )
            let same = try await store.tell(
                "other", about: [Identity(.originalTransactionID, "z")], in: Realm(.sandbox))
            try expect(
                same.isNew && same.customer?.id != other.customer?.id, "also with the same ID of the notification")
            let again = try await store.bring("1")
            let reception = try await store.tell(
                "later", about: [Identity(.appTransactionID, "1"), subscription])
            try expect(
                reception.isNew && reception.customer?.id == again.id,
                "notifications count for the customer who came back")
        },
        StoreClause("an update for a customer who was erased meanwhile changes nothing") { store in
            let one = try await store.bring("1")
            _ = try await store.change(.erase, on: one)
            let updated = try await store.update(one, naming: [Identity(.appTransactionID, "1")], at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            try expect(updated == nil, "nothing was added")
            try expect(try await store.read { try $0.customers(after: 0, limit: 9) }.isEmpty, "there is no customer")
            let two = try await store.bring("2")
            let added = try await store.update(two, naming: [Identity(.appTransactionID, "2")], at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            try expect(added?.0.id == two.id, "an existing customer is updated")
        },
        StoreClause("finishing the job of an erased customer leaves the jobs of other customers unchanged") { store in
            _ = try await store.update("1") { $0.fetchesHistory = true }
            let job = try unwrap(
                try await store.write(at: Sample.now) { try $0.claimJob(lease: 60) }, "the job")
            _ = try await store.change(.erase, on: job.customer)
            // A database may give the removed job's row ID to the new job.
            let two = try await store.update("2") { $0.fetchesHistory = true }
            try await store.write { try $0.postpone(job, until: Sample.now.addingTimeInterval(1e6)) }
            try await store.write { try $0.finish(job) }
            try expect(
                try await store.write(at: Sample.now) { try $0.claimJob(lease: 60) }?.customer.id == two.id,
                "the other customer's job is still there")
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
        return try await receive(notification, about: identities, at: Sample.now) { CustomerUpdate(of: $0) }
    }
}
