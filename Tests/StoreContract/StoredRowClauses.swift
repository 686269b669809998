import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let transaction: [StoreClause] = [
        StoreClause("artifacts are read back unchanged and in order") { store in
            let sent = [
                Sample.artifact("a"), Sample.artifact("b", .transaction), Sample.artifact("c", .renewalInfo),
                Sample.artifact("0\u{82}", .receipt),
            ]
            let customer = try await store.update { $0.add(sent) }
            try expect(try await store.read { try $0.artifacts(of: customer.id) } == sent, "the same artifacts")
        },
        StoreClause("storing an artifact a second time changes nothing") { store in
            let first = try await store.update { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            let second = try await store.update { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            try expect(first == second, "the same customer")
            try expect(try await store.read { try $0.artifacts(of: first.id) }.count == 1, "one artifact")
        },
        StoreClause("two customers can have the same artifact") { store in
            let one = try await store.update("1") { $0.add([Sample.artifact("a")]) }
            let two = try await store.update("2") { $0.add([Sample.artifact("a")]) }
            try expect(try await store.read { try $0.artifacts(of: one.id) }.count == 1, "the first has it")
            try expect(try await store.read { try $0.artifacts(of: two.id) }.count == 1, "so has the second")
        },
        StoreClause("the latest-signed state of a transaction applies, in any order of arrival") { store in
            let customer = try await store.update {
                $0.add([], purchases: [Sample.purchase("1", signed: 2, revoked: true)])
            }
            _ = try await store.update { $0.add([], purchases: [Sample.purchase("1", signed: 1)]) }
            let seen = try unwrap(try await store.lookUp(customer.id), "the customer")
            try expect(seen.facts.purchases == [Sample.purchase("1", signed: 2, revoked: true)], "still refunded")
        },
        StoreClause("complete purchases stay complete") { store in
            _ = try await store.update { $0.completePurchases() }
            let later = try await store.update { $0.add([], proving: [Sample.proof()]) }
            try expect(later.facts.purchasesAreComplete, "the purchases stay complete")
        },
        StoreClause("a database isn't ready after a write failed because its disk is full, even if a small write fits")
        {
            store in
            try expect(await store.writeFailure() == nil, "ready at first")
            try expect(try await store.read { try $0.storedValue(named: "probe") } == nil, "the probe left no row")
            do {
                try await store.write { _ -> Void in throw StoreError.full }
                throw BrokenClause(description: "the write succeeded")
            } catch let error as StoreError {
                try expect(error == .full, "full: \(error)")
            }
            let small = try await store.update { $0.add([Sample.artifact("a")]) }
            try expect(try await store.lookUp(small.id) == small, "a small write succeeds")
            try expect(await store.writeFailure() == .full, "but the database isn't ready")
        },
    ]

    static let promises: [StoreClause] = [
        StoreClause("a repeated promise is stored once") { store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let promise = Sample.promise(policy: policy)
            let customer = try await store.update { $0.promise(promise) }
            _ = try await store.update { $0.promise(promise) }
            try expect(try await store.promises(of: customer.id) == [promise], "in the promises table")
            try expect(try await store.lookUp(customer.id)?.facts.promises == [promise], "and in the customer's facts")
        },
        StoreClause("promises with another version, entitlement or end are stored separately") { store in
            let one = try await store.record(policy: [1], sha256: [1])
            let two = try await store.record(policy: [2], sha256: [2])
            let promises = [
                Sample.promise(policy: one), Sample.promise(policy: two), Sample.promise("cloud", policy: one),
                Sample.promise(policy: one, until: Sample.now.addingTimeInterval(0.25)),
            ]
            let customer = try await store.update { update in promises.forEach { update.promise($0) } }
            try expect(try await store.promises(of: customer.id) == promises, "all four promises are stored")
            func promise(_ account: String?, _ download: String?, _ seconds: Double?) -> StoredPromise {
                StoredPromise(
                    entitlement: "cloud",
                    acquisition: AcquisitionKey(
                        appTransactionID: account, downloadID: download,
                        originalPurchaseDate: seconds.map { Date(timeIntervalSince1970: 1_300_000_000 + $0) }),
                    policyVersion: two, until: nil, recordedAt: Sample.after(1))
            }
            let more = [
                promise("8", nil, nil), promise("9", nil, nil), promise(nil, "8", nil), promise(nil, "9", nil),
                promise(nil, nil, 0), promise(nil, nil, 60.5),
            ]
            _ = try await store.update { $0.promise(more) }
            try expect(try await store.promises(of: customer.id) == promises + more, "so are other acquisitions")
        },
    ]

    static let support: [StoreClause] = [
        StoreClause("a repeated grant by support is in the customer's facts once") { store in
            let customer = try await store.update { _ in }
            let grant = SupportGrant(
                .grant, of: "everything", date: Sample.now, until: Sample.now.addingTimeInterval(60))
            _ = try await store.record(grant, for: customer.id)
            let after = try unwrap(try await store.record(grant, for: customer.id), "the customer")
            try expect(after.facts.support == [grant], "one grant")
            try expect(try await store.lookUp(customer.id)?.evidence.support == [grant], "in evidence")
            let revocation = SupportGrant(.revocation, of: "everything", date: Sample.now.addingTimeInterval(1))
            let last = try unwrap(try await store.record(revocation, for: customer.id), "the customer")
            try expect(last.evidence.support == [revocation], "the latest counts")
        },
        StoreClause("a repeated grant is compared with the latest grant of the same entitlement only") { store in
            let customer = try await store.update { _ in }
            let grant = SupportGrant(.grant, of: "everything", date: Sample.now)
            let cloud = SupportGrant(.grant, of: "cloud", date: Sample.after(30), until: Sample.after(60))
            for grant in [grant, cloud, grant, cloud] { _ = try await store.record(grant, for: customer.id) }
            let details = try unwrap(
                try await store.read { try $0.details(of: .rowID(customer.id), with: []) }, "the details")
            try expect(details.support.map(\.grant) == [grant, cloud], "\(details.support)")
            let longer = SupportGrant(.grant, of: "cloud", date: Sample.after(30), until: Sample.after(90))
            let after = try unwrap(try await store.record(longer, for: customer.id), "the customer")
            try expect(
                after.facts.support.map(\.until) == [nil, Sample.after(60), Sample.after(90)], "another end is new")
            try expect(
                after.facts.support.last?.date == Sample.after(30.001).toMillisecond,
                "a millisecond after the earlier one")
        },
        StoreClause("a grant to an unknown customer changes nothing") { store in
            let grant = SupportGrant(.grant, of: "everything", date: Sample.now)
            try expect(try await store.record(grant, for: 4711) == nil, "a grant to an unknown customer isn't recorded")
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 9) }
            try expect(lines.map(\.action) == ["grant"] && lines[0].customer == nil, "\(lines)")
            try expect(lines[0].detail == ["entitlement": "everything", "refused": "noSuchCustomer"], "\(lines)")
        },
    ]

    static let policies: [StoreClause] = [
        StoreClause("policies have versions that count from 1 and never change") { store in
            try expect(try await store.record(policy: [1, 2], sha256: [1]) == 1, "the first version")
            try expect(try await store.record(policy: [3], sha256: [2]) == 2, "the second version")
            let again = try await store.write(at: Sample.now.addingTimeInterval(9), locking: [.policies]) {
                try $0.record(policy: [1, 2], sha256: [1])
            }
            try expect(again == 1, "the first version again")
            let all = try await store.read { try $0.policies() }
            try expect(all.map(\.version) == [1, 2], "two versions")
            try expect(all.map(\.compiled) == [[1, 2], [3]], "as they were recorded")
            try expect(all.map(\.recordedAt) == [Sample.now, Sample.now], "with the date of their first recording")
        }
    ]
}
