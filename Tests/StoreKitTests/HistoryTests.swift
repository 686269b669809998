import CalculatorSeller
import LocalAppStore
import StoreKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct HistoryTests {
    @Test func `a finished consumable returns to the history when it is refunded`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.coins)
        try await kiosk.device().run {
            for await result in StoreKit.Transaction.unfinished { await result.unsafePayloadValue.finish() }
            for await _ in StoreKit.Transaction.all { Issue.record("a finished consumable isn't kept") }
            try await kiosk.operation(.refund, "Ada", [.product: Kiosk.coins])
            var refunded: [StoreKit.Transaction] = []
            for await result in StoreKit.Transaction.all { refunded.append(result.unsafePayloadValue) }
            #expect(refunded.map(\.productID) == [Kiosk.coins])
            #expect(refunded.first?.revocationDate != nil)
        }
    }

    @Test func `a relaunched app gets only the purchases that it hasn't finished`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            for id in [Kiosk.everything, Kiosk.season] {
                let product = try #require(try await Product.products(for: [id]).first)
                guard case .success(let result) = try await product.purchase() else { throw Unexpected() }
                if id == Kiosk.everything { await result.unsafePayloadValue.finish() }
            }
            device.relaunchApp()
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.season)
        }
    }

    @Test func `after another customer signs in, a listener gets only that customer's unfinished transactions`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.operation(.customer, "Ben")
        try await kiosk.operation(.acquire, "Ben")
        for product in [Kiosk.everything, Kiosk.coins] { try await kiosk.buy(product, "Ben") }
        try await kiosk.device("Ben").run {
            for await result in StoreKit.Transaction.unfinished
            where result.unsafePayloadValue.productID == Kiosk.everything {
                await result.unsafePayloadValue.finish()
            }
        }
        try await kiosk.buy(Kiosk.season)
        let device = try await kiosk.device()
        try await device.run { () async throws -> Void in
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.season)
            device.signIn(as: "Ben")
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.coins)
            var others = StoreKit.Transaction.updates.makeAsyncIterator()
            #expect(try #require(await others.next()).payloadValue.productID == Kiosk.coins)
        }
    }

    @Test func `after another customer signs in, only later changes of that customer's subscriptions are updates`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.operation(.customer, "Ben")
        try await kiosk.operation(.acquire, "Ben")
        try await kiosk.buy(Kiosk.pro, "Ben")
        let device = try await kiosk.device()
        try await device.run { () async throws -> Void in
            var statuses = Product.SubscriptionInfo.Status.updates.makeAsyncIterator()
            try await kiosk.buy(Kiosk.monthly)
            #expect(await statuses.next()?.transaction.unsafePayloadValue.productID == Kiosk.monthly)
            device.signIn(as: "Ben")
            #expect(await entitledProducts() == [Kiosk.pro])
            try await kiosk.operation(.cancel, "Ben", [.product: Kiosk.pro])
            let status = try #require(await statuses.next())
            #expect(status.transaction.unsafePayloadValue.productID == Kiosk.pro)
            #expect(!status.renewalInfo.unsafePayloadValue.willAutoRenew)
        }
    }
}
