import Foundation
import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a stranger with another customer's proof` {
    private static let id = "704000000000000001"

    @Test func `two Apple Accounts on one device are two customers`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            func account(_ year: TimeInterval, _ version: String) throws -> String {
                try minter.text(
                    .appTransaction,
                    [
                        "appTransactionId": .null, "originalApplicationVersion": .string(version),
                        "originalPurchaseDate": .instant(Date(timeIntervalSince1970: year)),
                    ])
            }
            let ada = try await client.sync(
                SyncRequest(
                    appTransaction: try account(1_400_000_000, "37"),
                    transactions: [try minter.text(.transaction, ["appTransactionId": .null])]))
            let boris = try await client.sync(SyncRequest(appTransaction: try account(1_600_000_000, "300")))
            #expect(!ada.id.isEmpty)
            #expect(boris.id != ada.id)
            #expect(boris.purchases.isEmpty)
            #expect(boris.entitlements["everything"]?.outcome != .granted)
            // Each of them gets the same customer again.
            #expect(try await client.sync(SyncRequest(appTransaction: try account(1_400_000_000, "37"))).id == ada.id)
            #expect(
                try await client.sync(SyncRequest(appTransaction: try account(1_600_000_000, "300"))).id == boris.id)
            // A transaction that both could send doesn't merge them either.
            let mixed = try await client.sync(
                SyncRequest(
                    appTransaction: try account(1_500_000_000, "300"),
                    transactions: [try minter.text(.transaction, ["appTransactionId": .null])]))
            #expect(mixed.id != ada.id)
            #expect(mixed.entitlements["everything"]?.reasons.contains { $0.code == "eraHonored" } == false)
        }
    }

    @Test func `a stranger who sends a customer's artifact gets only the data that the artifact contains`() async throws
    {
        try await withService { client in
            let minter = Calculator.minter()
            let appTransaction = try minter.text(.appTransaction)
            let transaction = try minter.transaction("1", of: Self.id)
            let owner = try await client.sync(
                SyncRequest(
                    appTransaction: appTransaction,
                    transactions: [transaction, try minter.transaction("2", of: Self.id)]))
            #expect(owner.purchases.count == 2)
            for found in [
                SyncRequest(appTransaction: appTransaction), SyncRequest(transactions: [transaction]),
                SyncRequest(appTransaction: appTransaction, deviceVerificationID: UUID().uuidString),
            ] {
                let stranger = try await client.sync(found, from: nil)
                #expect(stranger.id != owner.id)
                #expect(stranger.entitlementToken == nil)
                #expect(stranger.purchases.count == found.transactions?.count ?? 0)
                // The token of an unbound answer is valid for ten minutes, and gives access only to what that request
                // contained.
                let token = try #require(stranger.accessToken)
                #expect(token.expiresAt == Calculator.now.addingTimeInterval(600))
                let read = try await client.customer(token.value)
                #expect(read.id == stranger.id)
                #expect(read.purchases.count == stranger.purchases.count)
            }
            // The transaction alone doesn't prove the era in which the customer got the app.
            let alone = try await client.sync(SyncRequest(transactions: [transaction]), from: nil)
            #expect(alone.entitlements["everything"]?.reasons.contains { $0.code == "eraHonored" } == false)
        }
    }

    @Test(arguments: [(id, nil), (nil, "704000000000000002"), (nil, nil)])
    func `a stranger's own purchase doesn't connect the stranger with the customer of a copied app transaction`(
        _ customersID: String?, _ strangersID: String?
    ) async throws {
        let device = UUID()
        let proof = try Calculator.minter().text(
            .appTransaction, ["appTransactionId": customersID.map { .string($0) } ?? .null])
        let purchase = try Calculator.minter(device: device).text(
            .transaction,
            [
                "appTransactionId": strangersID.map { .string($0) } ?? .null,
                "transactionId": .string("777"), "originalTransactionId": .string("777"),
                "productId": .string("com.example.calculator.hat"),
            ])
        try await withService { client in
            let owner = try await client.sync(SyncRequest(appTransaction: proof))
            #expect(owner.entitlements["everything"]?.outcome == .granted)
            for _ in 0..<2 {
                let both = try await client.sync(
                    SyncRequest(appTransaction: proof, transactions: [purchase]), from: device)
                #expect(both.purchases.isEmpty)
                let stranger = try await client.sync(SyncRequest(transactions: [purchase]), from: device)
                #expect(stranger.purchases.map(\.transactionID) == ["777"])
                #expect(stranger.id != owner.id)
                #expect(stranger.entitlements["everything"]?.outcome != .granted)
            }
        }
    }

    @Test func `a stranger with a customer's purchase and app account token isn't connected with the customer`()
        async throws
    {
        try await withService { client in
            func sync(_ account: JSONValue, bought: TimeInterval, token: JSONValue) async throws -> CustomerResponse {
                let device = UUID()
                let minter = Calculator.minter(device: device)
                let appTransaction = try minter.text(
                    .appTransaction,
                    [
                        "appTransactionId": account, "originalApplicationVersion": .string("300"),
                        "originalPurchaseDate": .instant(Date(timeIntervalSince1970: bought)),
                    ])
                let transaction = try minter.text(
                    .transaction, ["appTransactionId": account, "appAccountToken": token])
                return try await client.sync(
                    SyncRequest(appTransaction: appTransaction, transactions: [transaction]), from: device)
            }
            let token = JSONValue.string("9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11")
            // Two accounts share a purchase. Only the second account's artifact of it has a token.
            let first = try await sync(.string(Self.id), bought: 1_500_000_000, token: .null)
            let second = try await sync(.string("704000000000000002"), bought: 1_600_000_000, token: token)
            #expect(first.id != second.id)
            // Artifacts without an account have the same date, purchase and token.
            let stranger = try await sync(.null, bought: 1_600_000_000, token: token)
            #expect(stranger.purchases.count == 1 && stranger.problems.isEmpty)
            #expect(stranger.id != first.id && stranger.id != second.id)
        }
    }

    @Test func `purchases with the same order ID on two devices belong to two customers`() async throws {
        try await withService { client in
            var customers: [String] = []
            for id in ["1001", "1002"] {
                let device = UUID()
                let transaction = try Calculator.minter(device: device).text(
                    .transaction,
                    [
                        "appTransactionId": .null, "transactionId": .string(id), "originalTransactionId": .string(id),
                        "webOrderLineItemId": .string("410000000000777"),
                    ])
                let answer = try await client.sync(SyncRequest(transactions: [transaction]), from: device)
                #expect(answer.purchases.map(\.transactionID) == [id])
                customers.append(answer.id)
            }
            #expect(Set(customers).count == 2)
        }
    }

    @Test
    func `purchases in an unbound sync are stored for their owner, but don't count as all of the owner's purchases`()
        async throws
    {
        try await withService { client in
            let minter = Calculator.minter()
            let id = "704000000000000002"
            let appTransaction = try minter.newcomer(id)
            let found = try await client.sync(
                SyncRequest(appTransaction: appTransaction, transactions: [try minter.transaction("1", of: id)]),
                from: nil)
            #expect(found.purchasesAreComplete, "the unbound response uses the list that the sync sent")
            let owner = try await client.sync(SyncRequest(appTransaction: appTransaction))
            #expect(owner.purchases.map(\.transactionID) == ["1"])
            #expect(!owner.purchasesAreComplete)
        }
    }

    @Test
    func `a sync that contains only a transaction for the device belongs to the transaction's customer`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let owner = try await client.sync(SyncRequest(appTransaction: try minter.text(.appTransaction)))
            let again = try await client.sync(SyncRequest(transactions: [try minter.text(.transaction)]))
            #expect(again.id == owner.id)
            #expect(again.accessToken != nil)
            #expect(again.entitlementToken == nil)
            // A transaction for this device doesn't bind another customer's app transaction. The two artifacts are
            // unrelated.
            let theirs = Calculator.minter(device: UUID())
            let stranger = try await client.sync(
                SyncRequest(
                    appTransaction: try theirs.text(.appTransaction),
                    transactions: [try minter.text(.transaction, ["appTransactionId": .string("9")])]))
            #expect(stranger.id != owner.id)
            #expect(stranger.problems.map(\.code) == ["unrelated"])
        }
    }

    @Test func `a receipt in several encodings is stored once`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let application = try service.application(logger: Calculator.logger) { _ in }
            try await application.test(.router) { http in
                let client = Client(http: http)
                let receipts = Calculator.receipts()
                let spellings: [ReceiptDefect] = [.chunkedContent, .rootFirst]
                let all = try [receipts.mint()] + spellings.map { try receipts.mint(with: $0) }
                #expect(Set(all).count == 3)
                for receipt in all {
                    let answer = try await client.sync(SyncRequest(receipt: Data(receipt).base64EncodedString()))
                    #expect(answer.purchases.count == 1)
                }
                #expect(try await service.store.read { try $0.artifacts(of: 1) }.map(\.bytes) == [all[0]])
            }
            try? await service.store.close()
        }
    }

    @Test func `a device identifier must be a UUID or a MAC address`() async throws {
        try await withService { client in
            let appTransaction = try Calculator.minter().text(.appTransaction)
            for good in [UUID().uuidString, "00:1b:63:84:45:e6", "001B638445E6", "00-1B-63-84-45-E6"] {
                _ = try await client.sync(SyncRequest(appTransaction: appTransaction, deviceIdentifier: good))
            }
            for bad in ["", "00:1b", "00:1b:63:84:45:eg", "0:1:2:3:4:5", "00:1b:63:84:45:e6:00"] {
                let problem = try await client.refused(
                    SyncRequest(appTransaction: appTransaction, deviceIdentifier: bad))
                #expect(problem.code == .malformedRequest)
                #expect(problem.detail.contains("`deviceIdentifier`"))
            }
        }
    }
}
