import Foundation
import HTTPTypes
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

@Suite struct `a large sync` {
    private static let owner = "704000000000000001"

    private struct Broken: Error {}

    /// Returns a receipt with many purchases that have different transaction IDs.
    ///
    /// - Parameter isSubscription: whether all purchases are periods of one subscription.
    private static func receipt(
        _ count: Int, from first: Int = 0, of account: Int = 0, isSubscription: Bool = false
    ) throws -> SyncRequest {
        let minter = Calculator.receipts()
        return SyncRequest(
            receipt: try minter.text { draft in
                draft[.downloadID] = .number(UInt64(700_000_000_000_000 + account))
                guard let purchase = draft.purchases.first else { return }
                draft.purchases = (first..<first + count).map { number in
                    var purchase = purchase
                    purchase[.transactionID] = .text(String(500_000_000_000_000 + number))
                    purchase[.originalTransactionID] = .text(
                        String(500_000_000_000_000 + (isSubscription ? first : number)))
                    purchase[.webOrderLineItemID] = .number(UInt64(600_000_000_000_000 + number))
                    return purchase
                }
            })
    }

    private static func transactions(
        _ count: Int, from first: Int = 0, of owner: String = owner
    ) throws -> SyncRequest {
        let minter = Calculator.minter()
        return SyncRequest(
            appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string(owner)]),
            transactions: try (first..<first + count).map { try minter.transaction("\(owner)\($0)", of: owner) })
    }

    /// What a request contains, and whether it comes from the owner's device.
    enum Kind: CaseIterable {
        case receipt, subscription, transactions, unboundTransactions

        func request(_ count: Int) throws -> (SyncRequest, UUID?) {
            switch self {
            case .receipt: (try `a large sync`.receipt(count, from: count * 10, of: count), Calculator.device)
            case .subscription:
                (
                    try `a large sync`.receipt(count, from: count * 10, of: count, isSubscription: true),
                    Calculator.device
                )
            case .transactions: (try `a large sync`.transactions(count, of: "70400000000\(count)"), Calculator.device)
            case .unboundTransactions: (try `a large sync`.transactions(count, of: "70400000000\(count)"), nil)
            }
        }
    }

    private static func ordinary(_ id: String) throws -> SyncRequest {
        let minter = Calculator.minter()
        return SyncRequest(
            appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string(id)]),
            transactions: [try minter.transaction("1\(id)", of: id)])
    }

    private func withCounts(
        _ body: @escaping @Sendable (Client, Store) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let store = Store(CountedDatabase(try SQLiteDatabase(path: folder + "/tenure.sqlite")))
            let service = try await TenureService(try Calculator.configuration(folder), store: store)
            let application = try service.application(logger: Calculator.logger) { _ in }
            try await application.test(.router) { try await body(Client(http: $0), store) }
            try? await store.close()
        }
    }

    @Test(arguments: Kind.allCases)
    func `a sync of 600 purchases reads as many stored facts as a sync of 150 purchases`(kind: Kind) async throws {
        try await withCounts { client, store in
            _ = try await client.sync(try Self.ordinary("704000000000000008"))
            store.counts.reset()
            _ = try await client.sync(try Self.ordinary("704000000000000009"))
            let ordinary = try #require(store.counts.writes.first)
            #expect(store.counts.writes.count == 1)
            var reads: [[Int]] = []
            for count in [150, 600] {
                let (request, device) = try kind.request(count)
                reads.append([])
                for _ in 0..<2 {
                    store.counts.reset()
                    #expect(try await client.sync(request, from: device).purchases.count == count)
                    for piece in store.counts.writes {
                        #expect(piece.statements <= 20 * ordinary.statements)
                        #expect(piece.values <= 20 * ordinary.values)
                    }
                    reads[reads.count - 1].append(store.counts.transactions.map(\.factsRead).reduce(0, +))
                }
            }
            #expect(reads[0] == reads[1])
            #expect(try await DatabaseTestBed.findings(store) == [])
        }
    }

    // The number of statements must not grow with the number of stored purchases.
    @Test func `a large sync of a customer with 1,200 stored purchases runs hardly more statements`() async throws {
        try await withCounts { client, store in
            var statements: [Int] = []
            for known in [0, 1200] {
                let owner = "70400000001\(known)"
                for first in stride(from: 0, to: known, by: 600) {
                    _ = try await client.sync(try Self.transactions(600, from: 1000 + first, of: owner))
                }
                let request = try Self.transactions(400, of: owner)
                store.counts.reset()
                #expect(try await client.sync(request).purchases.count == known + 400)
                statements.append(store.counts.transactions.map(\.statements).reduce(0, +))
            }
            #expect(statements[1] <= statements[0] + 20)
        }
    }

    @Test func `purchases of a large sync can be sent in several requests`() async throws {
        try await withCounts { client, store in
            var request = SyncRequest()
            for body in 0..<3 {
                request = try Self.receipt(400, from: body * 400)
                #expect(try await client.sync(request).purchases.count == 400)
            }
            let customer = try await store.customer(
                by: Identity(.originalTransactionID, "500000000000000"), in: Realm(.production, isTest: true))
            #expect(customer?.facts.purchases.count == 1200)
            #expect(try await DatabaseTestBed.findings(store) == [])
        }
    }

    @Test func `a small sync can be written between two transactions of a large sync`() async throws {
        for request in [try Self.transactions(200), try Self.receipt(500)] {
            try await withCounts { client, store in
                store.counts.reset { number in
                    guard number == 4 else { return }
                    let other = try await client.sync(try Self.ordinary("704000000000000009"))
                    #expect(other.entitlements["everything"]?.outcome == .granted)
                }
                let answer = try await client.sync(request)
                #expect(store.counts.writes.count > 5)
                #expect(answer.problems.isEmpty)
                #expect(answer.purchases.count == request.transactions?.count ?? 500)
                #expect(try await DatabaseTestBed.findings(store) == [])
            }
        }
    }

    @Test func `an interrupted large sync leaves a consistent database, and the next sync completes it`()
        async throws
    {
        for request in [try Self.transactions(150), try Self.receipt(200)] {
            let device = request.transactions == nil ? nil : Calculator.device
            try await withCounts { client, store in
                store.counts.reset()
                _ = try await client.sync(try Self.ordinary("704000000000000009"))
                var broken = 1
                while true {
                    let failing = broken
                    store.counts.reset { number in
                        if number == failing { throw Broken() }
                    }
                    var sent = request
                    sent.deviceVerificationID = device?.uuidString
                    if try await client.send(sent).status == .ok { break }
                    store.counts.reset()
                    #expect(try await DatabaseTestBed.findings(store) == [], "after piece \(failing)")
                    broken += 1
                }
                #expect(broken > 2)
                store.counts.reset()
                let answer = try await client.sync(request, from: device)
                #expect(answer.purchases.count == request.transactions?.count ?? 200)
                #expect(answer.entitlements["everything"]?.outcome == .granted)
                #expect(try await DatabaseTestBed.findings(store) == [])
            }
        }
    }

    @Test func `purchases of a large sync are stored when the response is sent`() async throws {
        try await withFolder { folder in
            let request = try Self.receipt(300)
            _ = try await withService(in: folder) { try await $0.sync(request) }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let customer = try await store.customer(
                by: Identity(.originalTransactionID, "500000000000299"), in: Realm(.production, isTest: true))
            #expect(customer?.facts.purchases.count == 300)
            try await store.close()
        }
    }
}
