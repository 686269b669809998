import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct BehaviorTests {
    @Test func `AppTransaction.shared throws a configured error in spite of a stored copy`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            _ = try await AppTransaction.shared
            device.behavior.appTransaction = .fails(.unknown)
            await #expect { try await AppTransaction.shared } throws: {
                if case StoreKitError.unknown? = $0 as? StoreKitError { true } else { false }
            }
            device.behavior.appTransaction = .genuine
            _ = try await AppTransaction.shared
        }
    }

    @Test func `AppTransaction.shared can hang, in a canceled task too, until a test ends the hang`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        device.behavior.appTransaction = .hangs
        try await device.run { () async throws -> Void in
            let asking = Task { try await AppTransaction.shared.payloadValue.originalAppVersion }
            asking.cancel()
            // Other calls continue meanwhile.
            #expect(await entitledProducts().isEmpty)
            device.behavior.appTransaction = .genuine
            #expect(try await asking.value == "37")
        }
    }

    @Test(arguments: LocalStore.Flaw.allCases)
    func `StoreKit on Linux returns a value that fails verification as unverified and readable`(flaw: LocalStore.Flaw)
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.everything)
        let device = try await kiosk.device()
        device.behavior.appTransaction = .unverified(flaw)
        device.behavior.transactions = .unverified(flaw)
        try await device.run {
            let app = try await AppTransaction.shared
            #expect(!app.isVerified)
            #expect(app.unsafePayloadValue.originalAppVersion == "37")
            var entitlements: [VerificationResult<StoreKit.Transaction>] = []
            for await result in StoreKit.Transaction.currentEntitlements { entitlements.append(result) }
            let entitlement = try #require(entitlements.first)
            #expect(entitlement.unsafePayloadValue.productID == Kiosk.everything)
            #expect(throws: VerificationResult<StoreKit.Transaction>.VerificationError.self) {
                try entitlement.payloadValue
            }
            switch flaw {
            case .brokenSignature: #expect(entitlement.problem == .invalidSignature)
            case .foreignAuthority: #expect(entitlement.problem == .invalidCertificateChain)
            case .otherDevice: #expect(entitlement.problem == .invalidDeviceVerification)
            case .otherApp: #expect(entitlement.problem == .missingRequiredProperties)
            }
        }
    }

    @Test func `if StoreKit fails, sequences are empty and subscription statuses throw`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        let device = try await kiosk.device()
        device.behavior.transactions = .fails(.unknown)
        await device.run {
            #expect(await entitledProducts().isEmpty)
            #expect(await StoreKit.Transaction.latest(for: Kiosk.pro) == nil)
            #expect(await !Product.SubscriptionInfo.isEligibleForIntroOffer(for: "another"))
            await #expect(throws: StoreKitError.self) { try await Product.SubscriptionInfo.status(for: Kiosk.group) }
        }
    }

    @Test func `after another account signs in, its purchases appear at once, and its app transaction after a refresh`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.advance("365d")
        try await kiosk.operation(.customer, "Ben")
        try await kiosk.operation(.acquire, "Ben")
        let device = try await kiosk.device()
        try await device.run { () async throws -> Void in
            #expect(try await AppTransaction.shared.payloadValue.originalAppVersion == "37")
            #expect(await entitledProducts() == [Kiosk.everything])
            let id = AppStore.deviceVerificationID
            device.signIn(as: "Ben")
            #expect(await entitledProducts().isEmpty)
            #expect(try await AppTransaction.shared.payloadValue.originalAppVersion == "37")
            #expect(try await AppTransaction.refresh().payloadValue.originalAppVersion == "120")
            #expect(AppStore.deviceVerificationID == id)
        }
    }

    @Test func `AppStore.sync asks the customer to sign in, and a purchase doesn't`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            _ = try await AppTransaction.shared
            _ = await entitledProducts()
            let product = try #require(try await Product.products(for: [Kiosk.everything]).first)
            _ = try await product.purchase()
            _ = try await Product.SubscriptionInfo.status(for: Kiosk.group)
            #expect(device.signInRequests == 0)
            try await AppStore.sync()
            #expect(device.signInRequests == 1)
            device.behavior.isOffline = true
            await #expect(throws: StoreKitError.self) { try await AppStore.sync() }
            device.behavior.signIn = .isCancelled
            await #expect(throws: StoreKitError.self) { try await AppTransaction.refresh() }
            #expect(device.signInRequests == 3)
        }
    }

    @Test func `a test can perform the local App Store's operations through a device, even an offline device`()
        async throws
    {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        device.behavior.isOffline = true
        try await device.perform("buy", ["product": Kiosk.pro])
        try await device.perform("advance", ["by": "3d"])
        #expect(try await device.now == Kiosk.date("2014-09-09T10:00:00Z"))
        device.behavior.isOffline = false
        await device.run { #expect(await entitledProducts() == [Kiosk.pro]) }
        await #expect {
            try await device.perform("buy", ["product": "com.example.unknown"])
        } throws: {
            if case StoreKitError.systemError(let failure)? = $0 as? StoreKitError {
                "\(failure)"
                    == "the local App Store has no product `com.example.unknown`; name a product that its scenario defines"
            } else {
                false
            }
        }
    }
}
