import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import StoreKit
@testable import Tenure

@Suite struct `A process that can't make purchases` {
    @Test(
        arguments: [
            (.appExtension, .appStore, "an extension can't buy"), (.appClip, .appStore, "an App Clip can't buy"),
            (.watchApp, .appStore, "the watch app can't buy"),
            (.app, .setapp, "the app came from Setapp, and the App Store has no record of it"),
            (.app, .direct, "the app came from its developer, and the App Store has no record of it"),
        ] as [(HostProcess.Kind, Tenure.Distribution, String)])
    @MainActor
    func `a purchase throws, and shows no confirmation, in a process that can't make purchases`(
        kind: HostProcess.Kind, distribution: Tenure.Distribution, problem: String
    ) async {
        let device = Device(FakeStore { $0.distribution = distribution }) {
            $0.host = HostProcess(kind, bundleID: InventedApp.bundleID)
        }
        let tenure = device.start()
        let calls = Locked(0)
        await #expect(throws: Tenure.Error.purchasesUnavailable(problem)) {
            try await tenure.purchase { () async throws -> Product.PurchaseResult in
                calls.withLock { $0 += 1 }
                return .pending
            }
        }
        #expect(calls.withLock { $0 } == 0)
    }

    @Test @MainActor func `a development build can make purchases`() async throws {
        let tenure = Device(FakeStore { $0.distribution = .development }).start()
        let result = try await tenure.purchase { () async throws -> Product.PurchaseResult in .pending }
        guard case .pending = result else { throw Unexpected() }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Transactions that the app delivers` {
    private static let account = "704000000000000002"

    private func device(
        _ purchases: [AppStoreTransaction], lines: Locked<[String]> = Locked([]),
        _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) -> Device {
        Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = purchases
                $0.unfinished = purchases
            }
        ) { setup in
            setup.options.log = Tenure.Log { level, line in lines.withLock { $0.append("\(level.rawValue): \(line)") } }
            change(&setup)
        }
    }

    @Test func `the delivery of a later transaction of a purchase finishes that transaction, not the first one`()
        async throws
    {
        let minter = JWSMinter(
            authority: RealService.authority, app: MintedApp(deviceVerificationID: InventedApp.device),
            signedAt: InventedApp.now.addingTimeInterval(-60))
        let jws = try minter.mint(
            .transaction,
            setting: [
                "transactionId": .string("412"), "originalTransactionId": .string("411"),
                "productId": .string(ServedStore.coins), "type": .string("Consumable"), "expiresDate": .null,
                "appTransactionId": .string(Self.account),
            ])
        let read = StoreKit.SignedText(String(decoding: jws, as: UTF8.self)).flatMap { StoreKit.Transaction($0) }
        let transaction = try #require(read)
        let verified = VerificationResult<StoreKit.Transaction>.verified(transaction)
        let known = try #require(StoreKitAccess.result(verified).value)
        let device = device([known])
        let tenure = device.start()
        await tenure.refresh()
        #expect(device.store.now.finished.isEmpty)
        await tenure.contentArrived(for: transaction)
        #expect(device.store.now.finished == ["412"])
    }

    @Test func `after the delivery of a period, later periods of the same subscription are finished at once`()
        async throws
    {
        func period(_ id: String, after days: Double) -> AppStoreTransaction {
            let begin = InventedApp.now.addingTimeInterval(days * InventedApp.day)
            return AppStoreTransaction(
                jws: "period.\(id)", environment: .production, appTransactionID: nil,
                purchase: Purchase(
                    transactionID: id, originalTransactionID: "2", productID: InventedApp.yearly,
                    type: .autoRenewable, purchaseDate: begin, expiresDate: begin.addingTimeInterval(InventedApp.day),
                    signedDate: begin))
        }
        let device = device([period("5", after: -0.5)]) {
            $0.options.finishing = .afterContent(of: [InventedApp.yearly])
        }
        let tenure = device.start()
        await tenure.refresh()
        #expect(device.store.now.finished.isEmpty)
        await tenure.engine.contentArrived(ofPurchase: "2", transaction: "5")
        #expect(device.store.now.finished == ["5"])
        device.store.deliverUpdate(period("6", after: 0.4))
        try await wait { device.store.now.finished.count == 2 }
        #expect(device.store.now.finished == ["5", "6"])
    }

    @Test func `consumables and purchases of an unknown type aren't finished before their delivery`() async throws {
        let types: [Purchase.ProductType] = [
            .nonConsumable, .consumable, .nonRenewing, .autoRenewable, .unknown("Rental"),
        ]
        let device = device(types.enumerated().map { InventedApp.purchase(id: "\($0 + 1)", type: $1) })
        let tenure = device.start()
        await tenure.refresh()
        // The first search may still be finishing a transaction, and then the second search leaves it alone.
        try await wait { device.store.now.finished.count >= 3 }
        #expect(device.store.now.finished.sorted() == ["1", "3", "4"])
        #expect(device.store.now.unfinished.map(\.purchase.transactionID) == ["2", "5"])
    }

    @Test func `a delivery is forgotten once the App Store lists the transaction as finished, and not before`() async {
        let device = device([])
        let tenure = device.start()
        await tenure.refresh()
        // The app has finished the transaction itself.
        await tenure.engine.contentArrived(ofPurchase: "7", transaction: "7")
        #expect(await tenure.engine.stored.account.deliveredTransactions == ["7"])
        device.store.change { $0.transactionsBehavior = .throwsAnError }
        await tenure.refresh()
        #expect(await tenure.engine.stored.account.deliveredTransactions == ["7"])
        device.store.change { $0.transactionsBehavior = .answers }
        await tenure.refresh()
        #expect(await tenure.engine.stored.account.deliveredTransactions == [])
    }

    // MARK: Log lines

    @Test func `the log says why a purchase isn't used or isn't finished`() async throws {
        let lines = Locked<[String]>([])
        let device = device([InventedApp.purchase()], lines: lines)
        device.store.change { $0.unfinishable = ["410000000000001"] }
        let tenure = device.start()
        await tenure.refresh()
        try await wait {
            lines.withLock {
                $0.contains("error: a transaction couldn't be finished, and will be finished later: Failure()")
            }
        }
        device.store.deliverUnverified()
        try await wait {
            lines.withLock { $0.contains("error: StoreKit couldn't verify a new transaction: invalid signature") }
        }
        await tenure.engine.process(InventedApp.purchase(InventedApp.yearly, id: "9", environment: .sandbox))
        #expect(!tenure.customer.has("cloud"))
        let logged = lines.withLock { $0 }
        #expect(logged.contains("info: ignored purchases of another account or environment: 1"), "\(logged)")
        #expect(
            logged.contains("error: a purchase is ignored: it belongs to another account or environment than the app"),
            "\(logged)")
    }
}
