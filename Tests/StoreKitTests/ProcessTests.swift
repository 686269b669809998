import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import TenureAppStore
import TenureCore
import Testing

/// These tests change the whole process, so they run one after the other.
@Suite(.serialized) struct ProcessTests {
    @Test func `StoreKit on Linux gives errors and empty sequences if no local App Store is configured`() async throws {
        guard ProcessInfo.processInfo.environment["TENURE_LOCAL_STORE_URL"] == nil else { return }
        await #expect(throws: StoreKitError.self) { try await AppTransaction.shared }
        await #expect(throws: StoreKitError.self) { try await AppStore.sync() }
        #expect(await entitledProducts().isEmpty)
        #expect(AppStore.deviceVerificationID == nil)
        #expect(!AppStore.canMakePayments)
        for await _ in StoreKit.Transaction.updates {
            Issue.record("a process without a local App Store got a transaction")
        }
    }

    @Test func `detached tasks use the device that was set for the process`() async throws {
        let kiosk = try await Kiosk()
        LocalStore.use(try await kiosk.device())
        defer { LocalStore.use(nil) }
        let version = try await Task.detached { try await AppTransaction.shared.payloadValue.originalAppVersion }.value
        #expect(version == "37")
        // The device of `run` has precedence.
        let other = try await Kiosk(.sandbox)
        #expect(
            try await other.device().run { try await AppTransaction.shared.payloadValue.originalAppVersion } == "1.0")
    }

    @Test func `the current device of StoreKit on Linux has a file with the app's receipt`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let url = try #require(LocalStore.current?.receiptURL)
            #expect(url == device.receiptURL)
            #expect(url.lastPathComponent == "receipt")
            let receipt = try Kiosk.verifier.verifyReceipt(Array(Data(contentsOf: url)), now: nil)
            #expect(receipt.payload.originalAppVersion == "37")
            // As on a device, the receipt gets new purchases when it is refreshed.
            try await kiosk.buy(Kiosk.everything)
            try await AppStore.sync()
            let refreshed = try Kiosk.verifier.verifyReceipt(Array(Data(contentsOf: url)), now: nil)
            #expect(refreshed.payload.inAppPurchases.count == 1)
        }
        let sandbox = try await Kiosk(.sandbox).device()
        await sandbox.run { #expect(LocalStore.current?.receiptURL.lastPathComponent == "sandboxReceipt") }
    }
}
