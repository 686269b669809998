import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// The fields of the receipts that a local App Store signs, read as an app or a server reads them.
struct ReceiptTests {
    /// The verified receipt of a customer's first app, on the first device.
    private func receipt(of customer: String, in state: AppStoreState) throws -> ReceiptPayload {
        try Shop.verifier.verifyReceipt(bytes(of: customer, in: state), now: state.now).payload
    }

    private func bytes(of customer: String, in state: AppStoreState) throws -> [UInt8] {
        let account = state.accounts[try state.accountIndex(customer)]
        return try Shop.signer.receipt(
            of: state.acquisitions[account.acquisitions[0]], in: state, device: account.devices[0])
    }

    @Test func `an old app that sends only a receipt shows something, and a device without artifacts shows nothing`()
        async throws
    {
        let appStore = LocalAppStore(try Shop.state(of: "Ada"), signer: Shop.signer) { _, _, _ in .noResponse }
        for showing in Scenario.Showing.allCases {
            let artifacts = try await appStore.artifacts(of: "Ada", showing: showing)
            #expect(artifacts.showsAnything == (showing != .nothing), "\(showing)")
            #expect((artifacts.receipt != nil) == (showing == .receipt || showing == .both), "\(showing)")
            #expect((artifacts.appTransaction != nil) == (showing == .appTransaction || showing == .both))
        }
    }

    @Test func `a receipt has the app's installed and original version, its dates and its IDs`() throws {
        var state = try Shop.state(of: "Ada")
        try state.addCustomer("Boris")
        try state.acquire("Boris", on: .macOS, preorderDate: Shop.date("2014-08-01"))
        let first = try receipt(of: "Ada", in: state)
        #expect(first.receiptType == "Production" && first.bundleID == Shop.bundleID)
        #expect(first.appAppleID == 828_838_134)
        #expect(first.appVersion == "37" && first.originalAppVersion == "37")
        #expect(first.originalPurchaseDate == Shop.date("2014-09-06T10:00:00Z"))
        #expect(first.creationDate == state.now && first.preorderDate == nil && first.expirationDate == nil)
        let mac = try receipt(of: "Boris", in: state)
        #expect(mac.appVersion == "1.9" && mac.originalAppVersion == "1.9")
        #expect(mac.preorderDate == Shop.date("2014-08-01"))
        #expect(first.downloadID != nil && mac.downloadID != nil && mac.downloadID != first.downloadID)

        state.advance(to: Shop.date("2015-07-01"))
        try state.update("Ada")
        let updated = try receipt(of: "Ada", in: state)
        #expect(updated.appVersion == "120" && updated.originalAppVersion == "37")
        #expect(updated.originalPurchaseDate == first.originalPurchaseDate && updated.creationDate == state.now)
        #expect(updated.downloadID == first.downloadID)
        #expect(updated.versionExternalIdentifier != nil)
        #expect(updated.versionExternalIdentifier != first.versionExternalIdentifier)
    }

    @Test func `each purchase in a receipt has its own IDs, dates, quantity and kind`() throws {
        var state = try Shop.state(of: "Ada")
        let bought = state.now
        for (product, quantity) in [(Shop.coins, 3), (Shop.everything, 1), (Shop.season, 1), (Shop.monthly, 1)] {
            try state.buy(product, "Ada", quantity: Int64(quantity))
        }
        state.advance(to: Shop.date("2014-09-20"))
        try state.refund("Ada", Shop.everything)
        let purchases = try receipt(of: "Ada", in: state).inAppPurchases.sorted { $0.transactionID < $1.transactionID }
        #expect(
            purchases.map(\.productID) == [Shop.coins, Shop.everything, Shop.season, Shop.monthly, Shop.monthly])
        #expect(purchases.map(\.transactionID) == state.transactions.map { state.id(of: $0) })
        #expect(purchases.map(\.productType) == [1, 0, 2, 3, 3])
        #expect(purchases.map(\.quantity) == [3, 1, 1, 1, 1])
        let renewed = Shop.date("2014-09-13T10:00:00Z")
        #expect(purchases.map(\.purchaseDate) == [bought, bought, bought, bought, renewed])
        #expect(purchases.map(\.expiresDate) == [nil, nil, nil, renewed, Shop.date("2014-10-13T10:00:00Z")])
        #expect(purchases.map(\.cancellationDate) == [nil, Shop.date("2014-09-20"), nil, nil, nil])
        #expect(purchases.map { $0.isTrialPeriod == true } == [false, false, false, true, false])
        #expect(purchases.allSatisfy { $0.isInIntroOfferPeriod != true && $0.promotionalOfferID == nil })
        // All periods of a subscription name the first one, and each has its own line item.
        #expect(purchases.prefix(4).allSatisfy { $0.originalTransactionID == $0.transactionID })
        #expect(purchases[4].originalTransactionID == purchases[3].transactionID)
        #expect(purchases.allSatisfy { $0.originalPurchaseDate == bought })
        let lineItems = purchases.map { $0.webOrderLineItemID ?? 0 }
        #expect(lineItems.prefix(3).allSatisfy { $0 == 0 })
        #expect(Set(lineItems.suffix(2)).subtracting([0]).count == 2)
    }

    @Test func `a receipt names a promotional offer, and marks a paid introductory offer and a free trial differently`()
        throws
    {
        var app = Shop.app()
        let place = try #require(app.products.firstIndex { $0.id == Shop.yearly })
        app.products[place].offers = [
            SubscriptionOffer(
                type: .introductory, discount: .payUpFront, period: CalendarPeriod(months: 1), price: 990)
        ]
        var state = AppStoreState(seed: "offers", startingAt: Shop.date("2014-09-06"), apps: [app])
        for name in ["Ada", "Ben"] {
            try state.addCustomer(name)
            try state.acquire(name)
        }
        try state.buy(Shop.yearly, "Ben")
        let introductory = try #require(try receipt(of: "Ben", in: state).inAppPurchases.first)
        #expect(introductory.isInIntroOfferPeriod == true && introductory.isTrialPeriod == false)
        #expect(introductory.promotionalOfferID == nil)

        try state.buy(Shop.monthly, "Ada")
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        state.advance(to: Shop.date("2014-12-01"))
        try state.buy(Shop.monthly, "Ada", offer: "thanks")
        let purchases = try receipt(of: "Ada", in: state).inAppPurchases.sorted { $0.transactionID < $1.transactionID }
        #expect(purchases.map(\.promotionalOfferID) == [nil, "thanks"])
        #expect(purchases.map(\.isTrialPeriod) == [true, false])
        #expect(purchases.map(\.isInIntroOfferPeriod) == [false, false])
    }

    @Test func `a receipt has only the purchases of one app by one customer, and none that the family shares`() throws {
        let notes = AppStoreApp(
            bundleID: "com.example.notes", appAppleID: 828_838_135,
            releases: [
                AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2014-01-10"))
            ], prices: [],
            products: [AppStoreProduct(id: "com.example.notes.pro", type: .nonConsumable, price: 990)])
        var state = AppStoreState(
            seed: "two apps", startingAt: Shop.date("2014-09-06T10:00:00Z"), apps: [Shop.app(), notes])
        for name in ["Ada", "Ben"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name, app: Shop.bundleID)
        }
        try state.acquire("Ada", app: notes.bundleID)
        try state.buy("com.example.notes.pro", "Ada")
        try state.buy(Shop.everything, "Ada")
        try state.share("Ada", Shop.everything)
        #expect(state.transactions.map(\.isFamilyShared) == [false, false, true])
        #expect(try receipt(of: "Ada", in: state).inAppPurchases.map(\.productID) == [Shop.everything])
        #expect(try receipt(of: "Ben", in: state).inAppPurchases.isEmpty)
    }

    @Test(arguments: [
        (AppStoreEnvironment.production, AppStoreAcquisition.Way.purchase, "Production"),
        (.production, .volumePurchase, "ProductionVPP"), (.sandbox, .purchase, "ProductionSandbox"),
        (.sandbox, .volumePurchase, "ProductionVPPSandbox"),
    ])
    func `a receipt's type names its environment and whether the app is a volume purchase`(
        environment: AppStoreEnvironment, way: AppStoreAcquisition.Way, type: String
    ) throws {
        var state = Shop.state(environment)
        try state.addCustomer("Vera")
        try state.acquire("Vera", way: way)
        #expect(try receipt(of: "Vera", in: state).receiptType == type)
    }

    @Test func `receipts from June 20, 2013 on have the original version, from January 24, 2025 on SHA-256`() throws {
        let sha1: [UInt8] = [0x06, 0x05, 0x2B, 0x0E, 0x03, 0x02, 0x1A]
        var app = Shop.app()
        app.releases.insert(
            AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2010-01-01")), at: 0)
        for (time, version, isSHA1) in [
            ("2013-06-19T23:59:59Z", nil, true), ("2013-06-20T00:00:00Z", "1", true),
            ("2025-01-23T23:59:59Z", "120", true), ("2025-01-24T00:00:00Z", "120", false),
        ] as [(String, String?, Bool)] {
            var state = AppStoreState(seed: "formats", startingAt: Shop.date(time), apps: [app])
            try state.addCustomer("Gus")
            try state.acquire("Gus")
            #expect(try receipt(of: "Gus", in: state).originalAppVersion == version, "\(time)")
            let hasSHA1 = try bytes(of: "Gus", in: state).firstRange(of: sha1) != nil
            #expect(hasSHA1 == isSHA1, "\(time)")
        }
    }
}
