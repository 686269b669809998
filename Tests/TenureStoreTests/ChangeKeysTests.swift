import Foundation
import TenureCore
import Testing

@testable import TenureStore

/// What transactions lock, when an update needs several of them, and how often one is tried again.
@Suite struct `the locks of updates and changes` {
    private static let realm = Realm(.production)

    private func identities(_ count: Int) -> [Identity] {
        (0..<count).map { Identity(.originalTransactionID, "\($0)") }
    }

    @Test(arguments: [(64, 0, true), (65, 0, false), (1, 128, true), (1, 129, false), (64, 128, true)])
    func `an update fits one transaction up to 64 lock keys and 128 entries`(keys: Int, size: Int, fits: Bool) {
        let plan = CustomerUpdatePlan(naming: identities(keys), in: Self.realm, at: .now, adding: size)
        #expect(plan.mayFitOneTransaction == fits)
        let expected: [LockKey] = identities(keys).map { .identity($0, Self.realm) }
        #expect(plan.lockKeys == expected)
    }

    @Test func `an update by a notification also locks the notification`() {
        let notification = StoredNotification(
            realm: Realm(.sandbox), uuid: "n", type: "REFUND", subtype: nil, signedDate: nil, bytes: [])
        for (count, fits) in [(63, true), (64, false)] {
            var plan = CustomerUpdatePlan(naming: identities(count), in: Self.realm, at: .now)
            plan.source = .notification(notification)
            #expect(plan.mayFitOneTransaction == fits)
            #expect(plan.lockKeys.count == count + 1)
            #expect(plan.lockKeys.last == .notification(uuid: "n", Realm(.sandbox)))
        }
    }

    @Test func `a change locks its request, its user, and the merges of customers`() {
        let changes: [(CustomerChange, LockKey?)] = [
            (.grant(entitlement: "e", until: nil), nil), (.revoke(entitlement: "e"), nil),
            (.link(user: "u", .never), .user("u")), (.unlink(user: "u"), .user("u")), (.merge(other: "c"), .merges),
            (.unmerge(other: "c"), .merges), (.erase, .merges),
        ]
        let request = LockKey.request("r", actor: "ada")
        for (change, key) in changes {
            let keys = key.map { [$0] } ?? []
            #expect(RequestedChange(change, actor: "ada", at: .now).keys == keys, "\(change)")
            let withID = RequestedChange(change, actor: "ada", at: .now, request: "r")
            #expect(withID.keys == [request] + keys, "\(change)")
        }
    }

    @Test func `changes that differ have different texts, except for how a link treats other users`() {
        let until = Date(timeIntervalSince1970: 1_700_000_000)
        let changes: [CustomerChange] = [
            .grant(entitlement: "e", until: nil), .grant(entitlement: "e", until: until),
            .grant(entitlement: "f", until: nil), .revoke(entitlement: "e"), .link(user: "u", .never),
            .link(user: "v", .never), .unlink(user: "u"), .merge(other: "c"), .merge(other: "d"),
            .unmerge(other: "c"), .erase,
        ]
        #expect(Set(changes.map(\.canonicalText)).count == changes.count)
        #expect(CustomerChange.link(user: "u", .newest).canonicalText == "link u")
        #expect(CustomerChange.unlink(user: "u").canonicalText == "unlink u")
        let grant = #"grant {"entitlement":"e","until":"2023-11-14T22:13:20Z"}"#
        #expect(changes[1].canonicalText == grant)
    }

    @Test func `only changes that may separate customers need proofs to be derived again`() {
        let separating: [CustomerChange] = [.unlink(user: "u"), .unmerge(other: "c"), .link(user: "u", .newest)]
        let others: [CustomerChange] = [
            .grant(entitlement: "e", until: nil), .revoke(entitlement: "e"), .link(user: "u", .never),
            .link(user: "u", .share), .merge(other: "c"), .erase,
        ]
        #expect(separating.allSatisfy { $0.maySeparateCustomers })
        #expect(!others.contains { $0.maySeparateCustomers })
    }

    @Test func `lists are split and padded for statements with a fixed number of parameters`() {
        #expect([1, 2, 3, 4, 5].chunks(of: 2).map { Array($0) } == [[1, 2], [3, 4], [5]])
        #expect([1, 2].chunks(of: 2).map { Array($0) } == [[1, 2]])
        #expect([Int]().chunks(of: 2).isEmpty)
        #expect([1, 2].padded(to: 4) == [1, 2, 2, 2])
        #expect([1, 2].padded(to: 1) == [1, 2])
        #expect([Int]().padded(to: 3).isEmpty)
        let batch = DatabaseTable.batch([7, 8])
        #expect(batch.count == 32)
        #expect(batch[0] == 7)
        #expect(batch.dropFirst().allSatisfy { $0 == 8 })
        #expect(DatabaseTransaction.placeholders(3, from: 4) == "$4, $5, $6")
    }

    @Test func `customers are handled together up to 16 customers and 32,768 bytes of facts, in order`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let sizes = [20_000, 12_768, 1, 40_000] + [Int](repeating: 1, count: 17)
            let found = try await store.write { transaction in
                for (number, size) in sizes.enumerated() {
                    try transaction.session.execute(
                        "INSERT INTO customers (realm, public_id, created_at, facts) VALUES (0, $1, 0, zeroblob($2))",
                        [.text("\(number)"), SQLValue(size)])
                }
                // No customer has the last row ID.
                return try transaction.sizes(of: (1...22).map { Int64($0) })
            }
            let customers = found.sorted { $0.id < $1.id }
            #expect(customers.map(\.size) == sizes)
            #expect(customers.pieces.map(\.count) == [2, 1, 1, 16, 1])
            #expect(customers.pieces.flatMap { $0 }.map(\.id) == customers.map(\.id))
            try await store.close()
        }
    }

    @Test(arguments: [(20, nil), (21, .busy)] as [(Int, StoreError?)])
    func `an operation that other writes disturb is tried 20 times`(needed: Int, expected: StoreError?) async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            var attempts = 0
            var failure: StoreError?
            do throws(StoreError) {
                let done = try await store.retrying { () throws(StoreError) -> Attempt<String> in
                    attempts += 1
                    return attempts == needed ? .done("done") : .unfinished
                }
                #expect(done == "done")
            } catch {
                failure = error
            }
            #expect(failure == expected)
            #expect(attempts == 20)
            try await store.close()
        }
    }
}
