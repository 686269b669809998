import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import Testing

/// Each test waits for the updates that it causes. Without them it fails at its time limit.
@Suite(.timeLimit(.minutes(2))) struct UpdateTests {
    @Test func `Transaction.updates delivers other devices' purchases, renewals and refunds in order`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            try await kiosk.buy(Kiosk.pro)
            let bought = try #require(await updates.next()).payloadValue
            #expect(bought.reason == .purchase)
            try await kiosk.advance("31d")
            let renewed = try #require(await updates.next()).payloadValue
            #expect(renewed.reason == .renewal)
            #expect(renewed.originalID == bought.id)
            try await kiosk.operation(.refund, "Ada", [.product: Kiosk.pro])
            let refunded = try #require(await updates.next()).payloadValue
            #expect(refunded.id == renewed.id)
            #expect(refunded.revocationDate != nil)
        }
    }

    @Test func `every listener of Transaction.updates gets every update once`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        await device.run {
            let heard = await withTaskGroup(of: [String].self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        var products: [String] = []
                        for await result in StoreKit.Transaction.updates {
                            products.append(result.unsafePayloadValue.productID)
                            if products.count == 2 { break }
                        }
                        return products
                    }
                }
                group.addTask {
                    try? await kiosk.buy(Kiosk.everything)
                    try? await kiosk.buy(Kiosk.season)
                    return []
                }
                var heard: [[String]] = []
                for await products in group where !products.isEmpty { heard.append(products) }
                return heard
            }
            #expect(heard == Array(repeating: [Kiosk.everything, Kiosk.season], count: 3))
        }
    }

    @Test func `Transaction.updates delivers purchases that the family shares or stops sharing`() async throws {
        let kiosk = try await Kiosk(owner: nil)
        for name in ["Ada", "Ben"] {
            try await kiosk.operation(.customer, name, [.family: "Lovelace"])
            try await kiosk.operation(.acquire, name)
        }
        try await kiosk.device("Ben").run {
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            try await kiosk.buy(Kiosk.everything)
            try await kiosk.operation(.share, "Ada", [.product: Kiosk.everything])
            #expect(try #require(await updates.next()).payloadValue.ownershipType == .familyShared)
            try await kiosk.operation(.unshare, "Ada", [.product: Kiosk.everything])
            #expect(try #require(await updates.next()).payloadValue.revocationDate != nil)
        }
    }

    @Test func `a listener of Transaction.updates first gets the unfinished transactions`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.coins)
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.device().run {
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            let first = try #require(await updates.next()).payloadValue
            #expect(first.productID == Kiosk.coins)
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.everything)
            await first.finish()
            var others = StoreKit.Transaction.updates.makeAsyncIterator()
            #expect(try #require(await others.next()).payloadValue.productID == Kiosk.everything)
        }
    }

    @Test func `a purchase on this device isn't delivered to Transaction.updates`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run { () async throws -> Void in
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            let product = try #require(try await Product.products(for: [Kiosk.everything]).first)
            guard case .success(let result) = try await product.purchase() else { throw Unexpected() }
            #expect(result.isVerified)
            try await kiosk.buy(Kiosk.season)
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.season)
            // An app that quit before it finished the purchase gets it when it is launched again.
            device.relaunchApp()
            var later = StoreKit.Transaction.updates.makeAsyncIterator()
            #expect(try #require(await later.next()).payloadValue.productID == Kiosk.everything)
        }
        // The same purchase comes to the customer's other device as an update.
        try await kiosk.device(named: "second").run { () async throws -> Void in
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.everything)
        }
    }

    @Test func `a listener of Transaction.updates ends when its task is canceled`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        await device.run {
            let listener = Task { for await _ in StoreKit.Transaction.updates { Issue.record("nothing happened") } }
            listener.cancel()
            await listener.value
        }
    }

    @Test func `transactions that change while a device is offline arrive when it is online again`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            device.behavior.isOffline = true
            try await kiosk.buy(Kiosk.everything)
            let next = Task {
                var updates = StoreKit.Transaction.updates.makeAsyncIterator()
                return await updates.next()
            }
            device.behavior.isOffline = false
            #expect(await next.value?.unsafePayloadValue.productID == Kiosk.everything)
        }
    }

    @Test func `Status.updates and Storefront.updates deliver their changes`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            var statuses = Product.SubscriptionInfo.Status.updates.makeAsyncIterator()
            try await kiosk.buy(Kiosk.pro)
            #expect(await statuses.next()?.state == .subscribed)
            try await kiosk.operation(.cancel, "Ada", [.product: Kiosk.pro])
            #expect(try #require(await statuses.next()).renewalInfo.payloadValue.willAutoRenew == false)
            try await kiosk.advance("40d")
            #expect(await statuses.next()?.state == .expired)
            let moved = Task {
                var storefronts = StoreKit.Storefront.updates.makeAsyncIterator()
                return await storefronts.next()
            }
            try await kiosk.operation(.move, "Ada", [.storefront: "JPN"])
            #expect(await moved.value?.countryCode == "JPN")
        }
    }
}

struct Unexpected: Error {}
