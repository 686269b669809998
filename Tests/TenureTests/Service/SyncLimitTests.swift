import Foundation
import TenureAPI
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Limits of a sync` {
    private static let mebibyte = 1 << 20

    /// A transaction that was bought on the day with this number.
    private func transaction(
        _ day: Int, size: Int = 100, type: Purchase.ProductType = .autoRenewable
    ) -> AppStoreTransaction {
        AppStoreTransaction(
            jws: String(repeating: "a", count: size), environment: .production, appTransactionID: nil,
            purchase: Purchase(
                transactionID: "\(day)", productID: InventedApp.yearly, type: type,
                purchaseDate: InventedApp.now.addingTimeInterval(Double(day) * InventedApp.day), signedDate: nil))
    }

    private func sent(_ transactions: [AppStoreTransaction]) -> [String] {
        SyncRequest.mostRelevant(transactions).map(\.purchase.transactionID)
    }

    @Test func `a sync has at most 2,000 transactions, and leaves out the oldest period of more`() {
        let all = (0...2000).map { transaction($0) }
        #expect(sent(Array(all.dropFirst())) == (1...2000).map { "\($0)" })
        #expect(sent(all) == (1...2000).reversed().map { "\($0)" })
    }

    @Test func `a sync has at most 3 MiB of transactions, and one-time purchases come first`() {
        let size = Self.mebibyte
        #expect(
            sent([transaction(0, size: size), transaction(1, size: size), transaction(2, size: size)])
                == ["0", "1", "2"])
        #expect(
            sent([transaction(0, size: size), transaction(1, size: size), transaction(2, size: size + 1)])
                == ["2", "1"])
        #expect(
            sent([
                transaction(0, size: size, type: .nonConsumable), transaction(1, size: size),
                transaction(2, size: size + 1),
            ]) == ["0", "2"])
    }

    @Test func `a sync has at most 100 renewal infos, and none without the list of transactions`() async throws {
        var snapshot = AppStoreSnapshot()
        snapshot.appTransaction = InventedApp.owner()
        snapshot.renewals = (0...100).map { number in
            AppStoreRenewal(
                jws: "renewal.\(number)",
                renewal: Renewal(
                    originalTransactionID: "\(number)", productID: nil, gracePeriodExpiresDate: nil,
                    isInBillingRetryPeriod: false, signedDate: nil))
        }
        let incomplete = try #require(await SyncRequest(snapshot, from: FakeStore()))
        #expect(incomplete.transactions == nil && incomplete.renewalInfos == nil)
        snapshot.transactions = []
        let request = try #require(await SyncRequest(snapshot, from: FakeStore()))
        #expect(request.transactions == [])
        #expect(request.renewalInfos == (0..<100).map { "renewal.\($0)" })
        #expect(request.deviceVerificationID == InventedApp.device.uuidString)
    }

    @Test(arguments: [(0, false), (1, true), (512 * 1024, true), (512 * 1024 + 1, false)])
    func `a sync has a receipt of at most 512 KiB`(size: Int, isSent: Bool) async {
        let receipt = Data(repeating: 0x30, count: size)
        let request = await SyncRequest(AppStoreSnapshot(), from: FakeStore { $0.receipt = receipt })
        #expect(request?.receipt == (isSent ? receipt.base64EncodedString() : nil))
        #expect((request != nil) == isSent)
    }

    @Test func `the client waits half of the full time after a failure at least, and the full time at most`() {
        var backoff = Backoff()
        #expect(backoff.wait(chance: 0.5) == 0)
        for (failures, full) in [(1, 2.0), (2, 4), (11, 2048), (12, 3600), (21, 3600), (70, 3600)] {
            while backoff.failures < failures { backoff.fail() }
            #expect(backoff.wait(chance: 0) == full / 2, "\(failures) failures")
            #expect(backoff.wait(chance: 0.5) == full * 0.75, "\(failures) failures")
        }
        backoff.succeed()
        #expect(backoff.wait(chance: 0.5) == 0)
    }
}
