import Foundation
import TenureAPI
import TenureAppStore
import Testing

@testable import Tenure

private let identifier = "a1b2c3d4e5f6"

private func store(receipt: Data?) -> FakeStore {
    FakeStore {
        $0.receipt = receipt
        $0.deviceIdentifier = identifier
    }
}

@Suite struct `The identifier of the device` {
    @Test func `the device identifier is sent beside a receipt that has a device hash`() async throws {
        let store = store(receipt: try DeviceReceipts.receipt(.production))
        let request = try #require(await SyncRequest(AppStoreSnapshot(), from: store))
        #expect(request.receipt != nil)
        #expect(request.deviceIdentifier == identifier)
    }

    @Test func `the device identifier isn't read if there is an app transaction`() async throws {
        let store = store(receipt: try DeviceReceipts.receipt(.production))
        var snapshot = AppStoreSnapshot()
        snapshot.appTransaction = InventedApp.owner()
        let request = try #require(await SyncRequest(snapshot, from: store))
        #expect(request.receipt == nil)
        #expect(request.deviceIdentifier == nil)
        #expect(store.now.deviceIdentifierReads == 0)
    }

    @Test func `the device identifier isn't read if there are only transactions`() async throws {
        let store = store(receipt: nil)
        var snapshot = AppStoreSnapshot()
        snapshot.transactions = [InventedApp.purchase()]
        let request = try #require(await SyncRequest(snapshot, from: store))
        #expect(request.deviceIdentifier == nil)
        #expect(store.now.deviceIdentifierReads == 0)
    }

    @Test func `the device identifier isn't read for a receipt without a device hash, or for an unreadable receipt`()
        async throws
    {
        for receipt in [try DeviceReceipts.receiptWithoutHash(), Data([1, 2, 3])] {
            let store = store(receipt: receipt)
            let request = try #require(await SyncRequest(AppStoreSnapshot(), from: store))
            #expect(request.receipt != nil)
            #expect(request.deviceIdentifier == nil)
            #expect(store.now.deviceIdentifierReads == 0)
        }
    }
}
