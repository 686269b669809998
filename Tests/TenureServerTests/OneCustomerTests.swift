import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

/// A customer with one app transaction. All artifacts were signed for the device of `Calculator`.
private struct Buyer: Sendable {
    /// The `appTransactionId`; nil for an app transaction that Apple signed before that field existed.
    var id: String?
    let version: String
    let bought: TimeInterval

    static func owner(id: String? = nil) -> Buyer { Buyer(id: id, version: "37", bought: 1_400_000_000) }
    static func newcomer(id: String? = nil) -> Buyer { Buyer(id: id, version: "300", bought: 1_600_000_000) }

    func appTransaction(on device: UUID = Calculator.device) throws -> String {
        try Calculator.minter(device: device).text(
            .appTransaction,
            [
                "appTransactionId": id.map { .string($0) } ?? .null,
                "originalApplicationVersion": .string(version),
                "originalPurchaseDate": .instant(Date(timeIntervalSince1970: bought)),
            ])
    }

    /// Returns a transaction of a product that no entitlement lists.
    func transaction(_ number: String, hasID: Bool = true) throws -> String {
        try Calculator.minter().text(
            .transaction,
            [
                "appTransactionId": (hasID ? id : nil).map { .string($0) } ?? .null,
                "transactionId": .string(number), "originalTransactionId": .string(number),
                "productId": .string("com.example.calculator.hat"),
            ])
    }

    func request(_ transactions: String..., on device: UUID = Calculator.device) throws -> SyncRequest {
        SyncRequest(
            appTransaction: try appTransaction(on: device), transactions: transactions,
            deviceVerificationID: device.uuidString)
    }
}

extension CustomerResponse {
    fileprivate var isGranted: Bool { entitlements["everything"]?.outcome == .granted }
}

@Suite struct `customers who share a device` {
    private static let one = "704000000000000001"
    private static let two = "704000000000000077"

    @Test(arguments: [(nil, two), (nil, nil), (one, nil), (one, two)])
    func `two customers on one device aren't merged if each has an app transaction`(
        _ ownersID: String?, _ newcomersID: String?
    ) async throws {
        let (owner, newcomer) = (Buyer.owner(id: ownersID), Buyer.newcomer(id: newcomersID))
        try await withService { client in
            // an older artifact of the owner, signed before app transactions had IDs
            let old = try owner.transaction("1001", hasID: false)
            let owners = try owner.request(old, try owner.transaction("1002"))
            let newcomers = try newcomer.request(try newcomer.transaction("1003"))
            let first = try await client.sync(owners)
            let second = try await client.sync(newcomers)
            #expect(first.isGranted && !second.isGranted)
            #expect(first.id != second.id)
            let mixed = [try newcomer.transaction("1003"), old]
            for transactions in [mixed, mixed.reversed()] {
                for device in [Calculator.device, nil] {
                    _ = try await client.sync(SyncRequest(transactions: transactions), from: device)
                    let later = try await client.sync(newcomers)
                    #expect(later.id == second.id)
                    #expect(!later.isGranted)
                    #expect(!later.purchases.contains { $0.transactionID == "1002" })
                    let owned = try await client.sync(owners)
                    #expect(owned.id == first.id)
                    #expect(owned.isGranted)
                }
            }
            #expect(try await client.customer(try second.token).id == second.id)
        }
    }

    @Test func `two sandbox customers with equal purchase dates aren't merged if only one of them has an ID`()
        async throws
    {
        try await withService { client in
            let minter = Calculator.minter(.sandbox)
            func appTransaction(_ id: JSONValue) throws -> String {
                try minter.text(
                    .appTransaction,
                    [
                        "appTransactionId": id, "originalApplicationVersion": .string("1.0"),
                        "originalPurchaseDate": .instant(Date(timeIntervalSince1970: 1_375_340_400)),
                    ])
            }
            let first = try await client.sync(
                SyncRequest(
                    appTransaction: try appTransaction(.null),
                    transactions: [try minter.text(.transaction, ["appTransactionId": .null])]))
            #expect(first.isGranted)
            let second = try await client.sync(
                SyncRequest(appTransaction: try appTransaction(.string(Self.two)), transactions: []))
            #expect(second.id != first.id)
            #expect(!second.isGranted)
        }
    }

    @Test
    func `two customers on one device aren't merged by a sync of their purchases without an app transaction`()
        async throws
    {
        let (owner, newcomer) = (Buyer.owner(), Buyer.newcomer(id: Self.two))
        try await withService { client in
            let owners = try owner.request(try owner.transaction("1001"))
            let first = try await client.sync(owners)
            for _ in 0..<2 {
                _ = try await client.sync(
                    SyncRequest(transactions: [try newcomer.transaction("1003"), try owner.transaction("1001")]))
            }
            let second = try await client.sync(try newcomer.request(try newcomer.transaction("1003")))
            #expect(second.id != first.id)
            #expect(!second.isGranted)
            let owned = try await client.sync(owners)
            #expect(owned.id == first.id)
            #expect(owned.isGranted)
        }
    }

    @Test func `two customers on one device are merged if their app transactions are of the same acquisition`()
        async throws
    {
        let (old, new) = (Buyer.owner(), Buyer.owner(id: Self.one))
        let elsewhere = UUID()
        try await withService { client in
            let first = try await client.sync(try old.request(try old.transaction("1001")))
            // The next sync is from another device, and the app transaction has an ID now. Nothing proves yet that it
            // is the same customer.
            let second = try await client.sync(try new.request(on: elsewhere))
            #expect(second.id != first.id)
            let joined = try await client.sync(try new.request(try old.transaction("1001")))
            #expect(joined.id == first.id || joined.id == second.id)
            #expect(try await client.sync(try old.request()).id == joined.id)
            let last = try await client.sync(try new.request(on: elsewhere))
            #expect(last.id == joined.id)
            #expect(last.purchases.map(\.transactionID) == ["1001"])
        }
    }

    @Test func `a later artifact of a purchase gives its app transaction ID to the customer`() async throws {
        let (old, new) = (Buyer.owner(), Buyer.owner(id: Self.one))
        try await withService { client in
            let first = try await client.sync(try old.request(try old.transaction("1001")))
            let named = try await client.sync(SyncRequest(transactions: [try new.transaction("1001")]))
            #expect(named.id == first.id)
            #expect(try await client.sync(try new.request(on: UUID())).id == first.id)
        }
    }
}
