import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import TenureAppStore
import Testing

/// What a device stores, and how its calls end if a test lets them fail or hang.
@Suite(.timeLimit(.minutes(2))) struct DeviceStateTests {
    private func product(_ id: String) async throws -> Product {
        try #require(try await Product.products(for: [id]).first)
    }

    /// Returns how a call fails: the kind of the error, with its details.
    private func failure(_ work: () async throws -> Void) async -> String {
        do {
            try await work()
            return "none"
        } catch StoreKitError.userCancelled {
            return "canceled"
        } catch StoreKitError.unknown {
            return "unknown"
        } catch StoreKitError.networkError(let error) {
            return "network \(error.code == .notConnectedToInternet ? "not connected" : "other")"
        } catch StoreKitError.systemError(let failure) {
            return "system: \(failure)"
        } catch {
            return "\(error)"
        }
    }

    @Test func `a device's ID depends only on the names of the customer and the device`() async throws {
        for _ in 0..<2 {
            let kiosk = try await Kiosk()
            let first = try await kiosk.device()
            #expect(first.deviceVerificationID.uuidString == "B5FDB148-E89A-46E2-8DF3-BA0AC81F38F1")
            #expect(first.bundleID == Kiosk.bundleID)
            let second = try await kiosk.device(named: "second")
            #expect(second.deviceVerificationID.uuidString == "AA055B3F-7AEB-40E9-AFA5-35DEA9BA50C9")
            let unnamed = try await kiosk.device(nil)
            #expect(unnamed.deviceVerificationID.uuidString == "A1AF0302-31CA-4FD2-8ECF-30C5294BAF8F")
        }
    }

    @Test func `renewing the artifacts replaces the app transaction and the receipt without a sign-in`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            func purchases() throws -> [String] {
                let receipt = try Data(contentsOf: device.receiptURL)
                return try Kiosk.verifier.verifyReceipt(Array(receipt), now: nil).payload.inAppPurchases
                    .map(\.productID)
            }
            let first = try await AppTransaction.shared.payloadValue
            try await kiosk.advance("3d")
            try await kiosk.buy(Kiosk.everything)
            device.behavior.isOffline = true
            await device.renewArtifacts()
            #expect(try await AppTransaction.shared.payloadValue == first)
            #expect(try purchases().isEmpty)
            device.behavior.isOffline = false
            await device.renewArtifacts()
            #expect(try await AppTransaction.shared.payloadValue.signedDate == Kiosk.date("2014-09-09T10:00:00Z"))
            #expect(try purchases() == [Kiosk.everything])
        }
        #expect(device.signInRequests == 0)
    }

    @Test(arguments: [true, false])
    func `a sign-in that stays open ends as the test decides later`(signsIn: Bool) async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        device.behavior.signIn = .hangs
        await device.run {
            let syncing = Task { try await AppStore.sync() }
            while device.signInRequests == 0 { await Task.yield() }
            device.behavior.signIn = signsIn ? .succeeds : .isCancelled
            #expect(await failure { try await syncing.value } == (signsIn ? "none" : "canceled"))
        }
        #expect(device.signInRequests == 1)
    }

    @Test func `a purchase that stays open ends as the test decides later`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let coins = try await product(Kiosk.coins)
            device.behavior.purchases = .hangs
            let buying = Task { try await coins.purchase() }
            for _ in 0..<20 { await Task.yield() }
            device.behavior.purchases = .isCancelled
            guard case .userCancelled = try await buying.value else { throw Unexpected() }
            #expect(await kiosk.store.state.transactions.isEmpty)
        }
    }

    @Test func `each failure of StoreKit has the error of its reason`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.operation(.customer, "Zoe")
        let device = try await kiosk.device()
        try await device.run {
            let coins = try await product(Kiosk.coins)
            device.behavior.signIn = .isCancelled
            #expect(await failure { try await AppStore.sync() } == "canceled")
            #expect(await failure { _ = try await AppTransaction.refresh() } == "canceled")
            device.behavior = .init()
            device.behavior.isOffline = true
            #expect(await failure { try await AppStore.sync() } == "network not connected")
            #expect(await failure { _ = try await AppTransaction.refresh() } == "network not connected")
            #expect(await failure { _ = try await Product.products(for: [Kiosk.coins]) } == "network not connected")
            #expect(await failure { _ = try await coins.purchase() } == "network not connected")
            device.behavior = .init()
            device.behavior.products = .fails(.notAvailableInStorefront)
            #expect(
                await failure { _ = try await Product.products(for: [Kiosk.coins]) } == "notAvailableInStorefront")
            try await kiosk.operation(.failBilling, "Ada")
            let billing = "system: every charge of `Ada` fails; perform `recover` first"
            #expect(await failure { _ = try await coins.purchase() } == billing)
            #expect(await kiosk.store.state.transactions.isEmpty)
        }
        try await kiosk.device("Zoe").run {
            #expect(await failure { _ = try await AppTransaction.shared } == "unknown")
        }
    }

    @Test func `each period of a subscription has its own line item and dates, and names the first period`()
        async throws
    {
        let kiosk = try await Kiosk()
        for product in [Kiosk.monthly, Kiosk.everything] { try await kiosk.buy(product) }
        try await kiosk.advance("10d")
        try await kiosk.device().run {
            var periods: [StoreKit.Transaction] = []
            for await result in StoreKit.Transaction.all(for: Kiosk.monthly) { periods.append(try result.payloadValue) }
            let (start, trialEnd) = (Kiosk.date("2014-09-06T10:00:00Z"), Kiosk.date("2014-09-13T10:00:00Z"))
            #expect(periods.map(\.reason) == [.renewal, .purchase])
            #expect(periods.map(\.purchaseDate) == [trialEnd, start])
            #expect(periods.map(\.originalPurchaseDate) == [start, start])
            #expect(periods.map(\.expirationDate) == [Kiosk.date("2014-10-13T10:00:00Z"), trialEnd])
            #expect(periods.map(\.price) == [Decimal(string: "1.99"), Decimal(0)])
            let first = try #require(periods.last)
            #expect(periods.map(\.originalID) == [first.id, first.id] && periods.first?.id != first.id)
            #expect(Set(periods.compactMap(\.webOrderLineItemID)).count == 2)
            #expect(periods.map(\.subscriptionGroupID) == [Kiosk.group, Kiosk.group])
            let once = try #require(await StoreKit.Transaction.latest(for: Kiosk.everything)).payloadValue
            #expect(once.webOrderLineItemID == nil && once.subscriptionGroupID == nil && once.offer == nil)
            #expect(once.appBundleID == Kiosk.bundleID && once.originalPurchaseDate == start)
            #expect(await once.subscriptionStatus == nil)
        }
    }

    @Test func `unfinished transactions are listed newest first, and finished ones stay unless they're consumables`()
        async throws
    {
        let kiosk = try await Kiosk()
        for product in [Kiosk.everything, Kiosk.coins, Kiosk.season] {
            try await kiosk.buy(product)
            try await kiosk.advance("1d")
        }
        try await kiosk.device().run {
            func products(_ transactions: StoreKit.Transaction.Transactions) async -> [String] {
                var products: [String] = []
                for await result in transactions { products.append(result.unsafePayloadValue.productID) }
                return products
            }
            #expect(await products(StoreKit.Transaction.unfinished) == [Kiosk.season, Kiosk.coins, Kiosk.everything])
            for await result in StoreKit.Transaction.unfinished { await result.unsafePayloadValue.finish() }
            #expect(await products(StoreKit.Transaction.unfinished).isEmpty)
            #expect(await products(StoreKit.Transaction.all) == [Kiosk.season, Kiosk.everything])
            #expect(await kiosk.store.state.transactions.map(\.isFinished) == [true, true, true])
        }
    }

    @Test func `updates that come while StoreKit fails are delivered after that`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            device.behavior.transactions = .fails(.unknown)
            let next = Task {
                var updates = StoreKit.Transaction.updates.makeAsyncIterator()
                return await updates.next()
            }
            try await kiosk.buy(Kiosk.everything)
            for _ in 0..<20 { await Task.yield() }
            device.behavior.transactions = .genuine
            #expect(await next.value?.unsafePayloadValue.productID == Kiosk.everything)
        }
    }

    @Test func `waiting purchases are approved in their order, and all wait while the first isn't possible`()
        async throws
    {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            device.behavior.purchases = .waitsForApproval
            for id in [Kiosk.season, Kiosk.everything, Kiosk.coins] {
                guard case .pending = try await product(id).purchase() else { throw Unexpected() }
            }
            try await kiosk.operation(.withdraw, nil, [.product: Kiosk.season])
            #expect(await failure { try await device.approvePurchases() } != "none")
            #expect(await kiosk.store.state.transactions.isEmpty)
            try await kiosk.operation(.offerAgain, nil, [.product: Kiosk.season])
            try await device.approvePurchases()
            try await device.approvePurchases()
            let state = await kiosk.store.state
            #expect(
                state.transactions.map { state.products[$0.product].id } == [
                    Kiosk.season, Kiosk.everything, Kiosk.coins,
                ])
        }
    }
}
