import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// When a response is bound to a device, and which artifacts become one customer.
@Suite struct `bound and unbound responses` {
    private static let owner = "704000000000000001"
    private static let newcomer = "704000000000000002"

    @Test func `every response about a customer says whether it is bound`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            #expect(owner.bound)
            #expect(try await admin.client.customer(try owner.token).bound)
            let seen = try await admin.get(try owner.path()).json["customer"] as? [String: Any]
            #expect(seen?["bound"] as? Bool == true)
            let found = try await admin.client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter(signed: Calculator.now.addingTimeInterval(-10 * 86_400)).text(
                        .appTransaction)), from: nil)
            #expect(!found.bound)
            #expect(try await !admin.client.customer(try found.token).bound)
            let shown = try await admin.get(try found.path()).json["customer"] as? [String: Any]
            #expect(shown?["bound"] as? Bool == false)
            let exported = try await admin.get(try found.path("/export")).json["customer"] as? [String: Any]
            #expect(exported?["bound"] as? Bool == false)
        }
    }

    @Test func `a receipt without an app transaction never makes a response bound`() async throws {
        try await withService { client in
            let receipt = try Calculator.receipts().text()
            let owner = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().text(.appTransaction), receipt: receipt,
                    deviceIdentifier: Calculator.device.uuidString))
            #expect(owner.bound && owner.problems.isEmpty)
            let alone = try await client.sync(
                SyncRequest(receipt: receipt, deviceIdentifier: Calculator.device.uuidString))
            #expect(!alone.bound)
            #expect(alone.id != owner.id)
            #expect(alone.entitlementToken == nil)
            #expect(alone.accessToken?.expiresAt == Calculator.now.addingTimeInterval(600))
            #expect(try await !client.customer(try alone.token).bound)
            // Transactions that were made for another device don't bind the response either.
            let beside = try await client.sync(
                SyncRequest(
                    transactions: [try Calculator.minter().looseTransaction("410000000000001")], receipt: receipt,
                    deviceIdentifier: Calculator.device.uuidString))
            #expect(!beside.bound)
        }
    }

    @Test func `a device ID binds only artifacts that were signed for it`() async throws {
        try await withService { client in
            let appTransaction = try Calculator.minter().text(.appTransaction)
            #expect(try await client.sync(SyncRequest(appTransaction: appTransaction)).bound)
            #expect(try await !client.sync(SyncRequest(appTransaction: appTransaction), from: UUID()).bound)
            // A customer's own transaction doesn't bind another customer's app transaction.
            let device = UUID()
            let theirs = Calculator.minter(device: device)
            let mixed = try await client.sync(
                SyncRequest(
                    appTransaction: appTransaction,
                    transactions: [
                        try theirs.text(.transaction, ["appTransactionId": .string("9")]),
                        try theirs.text(
                            .transaction,
                            [
                                "appTransactionId": .null, "transactionId": .string("8"),
                                "originalTransactionId": .string("8"),
                            ]),
                    ]), from: device)
            #expect(!mixed.bound)
            #expect(mixed.problems.map(\.code) == ["unrelated", "unrelated"])
        }
    }

    @Test func `a transaction that was signed for the device binds an older app transaction of the same account`()
        async throws
    {
        try await withService { client in
            // The app transaction comes from the customer's former device.
            let appTransaction = try Calculator.minter().text(.appTransaction)
            let device = UUID()
            let own = try Calculator.minter(device: device).text(
                .transaction, ["appTransactionId": .string(Self.owner)])
            let answer = try await client.sync(
                SyncRequest(appTransaction: appTransaction, transactions: [own]), from: device)
            #expect(answer.bound && answer.problems.isEmpty)
            #expect(answer.entitlementToken == nil, "no app transaction was signed for this device")
        }
    }

    // MARK: Merging

    @Test func `a sync never merges two customers who each have an app transaction`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let receipts = Calculator.receipts()
            let bought = ["410000000000001", "2"]
            func receipt(_ ids: [String]) throws -> String {
                try receipts.text { draft in
                    guard let first = draft.purchases.first else { return }
                    draft.purchases = ids.map { id in
                        var purchase = first
                        purchase[.transactionID] = .text(id)
                        purchase[.originalTransactionID] = .text(id)
                        return purchase
                    }
                }
            }
            let one = SyncRequest(
                appTransaction: try minter.text(.appTransaction),
                transactions: [try minter.transaction(bought[0], of: Self.owner)], receipt: try receipt([bought[0]]))
            let other = SyncRequest(
                appTransaction: try minter.newcomer(Self.newcomer),
                transactions: [try minter.transaction(bought[1], of: Self.newcomer)])
            let first = try await client.sync(one)
            #expect(first.problems.isEmpty)
            let second = try await client.sync(other)
            #expect(first.id != second.id)
            // This receipt lists purchases of both customers, and the first customer's download ID.
            for device in [nil, Calculator.device] {
                _ = try await client.sync(SyncRequest(receipt: try receipt(bought)), from: device)
            }
            #expect(try await client.sync(one).id == first.id)
            #expect(try await client.sync(other).id == second.id)
            #expect(try await client.customer(try second.token).purchases.map(\.transactionID) == [bought[1]])
            // The device connects artifacts of one customer. It never merges two customers.
            let tied = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction),
                    transactions: [
                        try minter.text(
                            .transaction,
                            [
                                "appTransactionId": .null, "transactionId": .string(bought[1]),
                                "originalTransactionId": .string(bought[1]),
                            ])
                    ]))
            #expect(tied.id == first.id)
            #expect(try await client.sync(other).id == second.id)
            #expect(try await client.customer(try second.token).id == second.id)
        }
    }

    @Test func `an unbound sync of the same artifacts in another order gets the same customer`() async throws {
        try await withService { client in
            let account = "704000000000000002"
            let minter = Calculator.minter()
            let appTransaction = try minter.newcomer(account)
            let bought = try ["1", "2", "3"].map { try minter.transaction($0, of: account) }
            func id(_ transactions: [String]) async throws -> String {
                let request = SyncRequest(appTransaction: appTransaction, transactions: transactions)
                return try await client.sync(request, from: nil).id
            }
            let first = try await id(bought)
            for order in [[1, 0, 2], [2, 1, 0], [2, 0, 1]] {
                let again = try await id(order.map { bought[$0] })
                #expect(again == first)
            }
            let fewer = try await id([bought[0]])
            #expect(fewer != first)
        }
    }
}
