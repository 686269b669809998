import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import Testing

/// A device that can't reach the App Store decides by its copies and its clock.
@Suite(.timeLimit(.minutes(2))) struct OfflineTests {
    /// Checks an offline device a second before an entitlement ends, and at its end.
    private func check(
        _ kiosk: Kiosk, last: String, _ before: Product.SubscriptionInfo.RenewalState, end: String,
        _ after: Product.SubscriptionInfo.RenewalState
    ) async throws {
        let device = try await kiosk.device()
        device.behavior.isOffline = true
        for (time, products, state) in [(last, [Kiosk.pro], before), (end, [], after)] {
            try await kiosk.operation(.advance, nil, [.to: time])
            try await device.run { () async throws -> Void in
                #expect(await entitledProducts() == products, "\(time)")
                #expect(try await Product.SubscriptionInfo.status(for: Kiosk.group).map(\.state) == [state], "\(time)")
            }
        }
    }

    @Test func `an offline subscription is an entitlement until the instant at which its period ends, and no longer`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await check(
            kiosk, last: "2014-10-06T09:59:59Z", .subscribed, end: "2014-10-06T10:00:00Z", .expired)
    }

    @Test func `an offline grace period entitles the customer until the instant at which it ends, and no longer`()
        async throws
    {
        let kiosk = try await Kiosk(gracePeriodDays: 16)
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.operation(.failBilling, "Ada")
        try await kiosk.advance("35d")
        try await check(
            kiosk, last: "2014-10-22T09:59:59Z", .inGracePeriod, end: "2014-10-22T10:00:00Z", .inBillingRetryPeriod)
    }

    @Test func `a purchase is an entitlement on a device that goes offline right after it`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let product = try #require(try await Product.products(for: [Kiosk.everything]).first)
            guard case .success(.verified(let bought)) = try await product.purchase() else { throw Unexpected() }
            device.behavior.isOffline = true
            #expect(await entitledProducts() == [Kiosk.everything])
            #expect(await StoreKit.Transaction.latest(for: Kiosk.everything)?.unsafePayloadValue.id == bought.id)
        }
    }

    @Test func `AppStore.sync succeeds for a customer who never got the app, without an app transaction`() async throws
    {
        let kiosk = try await Kiosk(owner: nil)
        try await kiosk.operation(.customer, "Zoe")
        let device = try await kiosk.device("Zoe")
        try await device.run {
            try await AppStore.sync()
            await #expect(throws: StoreKitError.self) { try await AppTransaction.shared }
        }
        #expect(device.signInRequests == 1)
        #expect(!FileManager.default.fileExists(atPath: device.receiptURL.path))
    }

    @Test func `the latest transaction of a product is the one with the latest purchase date`() async throws {
        let kiosk = try await Kiosk()
        for _ in 1...3 {
            try await kiosk.buy(Kiosk.season)
            try await kiosk.advance("1d")
        }
        try await kiosk.device().run { () async throws -> Void in
            var dates: [Date] = []
            for await result in StoreKit.Transaction.all { dates.append(result.unsafePayloadValue.purchaseDate) }
            #expect(dates == ["2014-09-08", "2014-09-07", "2014-09-06"].map { Kiosk.date($0 + "T10:00:00Z") })
            let latest = try #require(await StoreKit.Transaction.latest(for: Kiosk.season)).payloadValue
            #expect(latest.purchaseDate == dates.first)
            let current = try #require(await StoreKit.Transaction.currentEntitlement(for: Kiosk.season)).payloadValue
            #expect(current.id == latest.id)
            #expect(await entitledProducts() == [Kiosk.season])
        }
    }
}
