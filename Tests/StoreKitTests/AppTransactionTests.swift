import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import TenureAppStore
import TenureCore
import Testing

@Suite struct AppTransactionTests {
    @Test func `an app transaction has the date and build with which the customer got the app`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        let result = try await device.run { try await AppTransaction.shared }
        let appTransaction = try result.payloadValue
        #expect(appTransaction.originalAppVersion == "37")
        #expect(appTransaction.originalPurchaseDate == Kiosk.date("2014-09-06T10:00:00Z"))
        #expect(appTransaction.originalPlatform == .iOS)
        #expect(appTransaction.bundleID == Kiosk.bundleID)
        #expect(appTransaction.appID == 828_838_134)
        #expect(appTransaction.environment == .production)
        #expect(appTransaction.appTransactionID.count == 18)
        #expect(appTransaction.preorderDate == nil)
        #expect(appTransaction.revocationDate == nil)
        #expect(appTransaction.signedDate == Kiosk.date("2014-09-06T10:00:00Z"))
        #expect(result.jwsRepresentation.split(separator: ".").count == 3)
        #expect(result.payloadData == appTransaction.jsonRepresentation)
        #expect(result.signatureData.count == 64)
    }

    @Test func `an app transaction contains a hash of its device, computed as Apple documents`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let appTransaction = try await AppTransaction.shared.payloadValue
            let id = try #require(AppStore.deviceVerificationID)
            let hash = DeviceVerification.hash(nonce: appTransaction.deviceVerificationNonce, deviceVerificationID: id)
            #expect(Array(appTransaction.deviceVerification) == hash)
        }
        let other = try await kiosk.device(named: "second")
        #expect(other.deviceVerificationID != device.deviceVerificationID)
    }

    @Test func `every app transaction of the sandbox has version 1.0 and a date in 2013`() async throws {
        let kiosk = try await Kiosk(.sandbox)
        let appTransaction = try await kiosk.device().run { try await AppTransaction.shared.payloadValue }
        #expect(appTransaction.environment == .sandbox)
        #expect(appTransaction.originalAppVersion == "1.0")
        #expect(appTransaction.originalPurchaseDate == Kiosk.date("2013-08-01T07:00:00Z"))
        #expect(appTransaction.appID == nil)
    }

    @Test func `AppTransaction.shared uses the network only for the first copy, and never asks to sign in`()
        async throws
    {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let first = try await AppTransaction.shared
            device.behavior.isOffline = true
            try await kiosk.advance("40d")
            #expect(try await AppTransaction.shared == first)
            device.behavior.isOffline = false
            #expect(try await AppTransaction.shared == first)
        }
        #expect(device.signInRequests == 0)
    }

    @Test func `AppTransaction.shared throws a network error on an offline device without a copy`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        device.behavior.isOffline = true
        await device.run {
            await #expect { try await AppTransaction.shared } throws: {
                if case StoreKitError.networkError? = $0 as? StoreKitError { true } else { false }
            }
        }
    }

    @Test func `AppTransaction.refresh asks the customer to sign in, and then returns the refund of the app`()
        async throws
    {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            #expect(try await AppTransaction.shared.payloadValue.revocationDate == nil)
            try await kiosk.advance("3d")
            try await kiosk.operation(.refundApp, "Ada")
            #expect(try await AppTransaction.shared.payloadValue.revocationDate == nil)
            let refreshed = try await AppTransaction.refresh().payloadValue
            #expect(refreshed.revocationDate == Kiosk.date("2014-09-09T10:00:00Z"))
            #expect(try await AppTransaction.shared.payloadValue == refreshed)
            #expect(device.signInRequests == 1)
            device.behavior.signIn = .isCancelled
            await #expect { try await AppTransaction.refresh() } throws: {
                if case StoreKitError.userCancelled? = $0 as? StoreKitError { true } else { false }
            }
            #expect(device.signInRequests == 2)
        }
    }

    @Test func `updating the app brings an app transaction for the new version`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            #expect(try await AppTransaction.shared.payloadValue.appVersion == "37")
            try await kiosk.advance("365d")
            try await kiosk.operation(.update, "Ada")
            _ = await entitledProducts()
            let appTransaction = try await AppTransaction.shared.payloadValue
            #expect(appTransaction.appVersion == "120")
            #expect(appTransaction.originalAppVersion == "37")
        }
    }

    @Test func `a customer who never got the app has no app transaction`() async throws {
        let kiosk = try await Kiosk(owner: nil)
        try await kiosk.operation(.customer, "Zoe")
        let device = try await kiosk.device("Zoe")
        await device.run {
            await #expect(throws: StoreKitError.self) { try await AppTransaction.shared }
        }
    }
}
