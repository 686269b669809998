import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import Testing

@Suite(.timeLimit(.minutes(2))) struct PurchaseTests {
    private func product(_ id: String) async throws -> Product {
        try #require(try await Product.products(for: [id]).first)
    }

    @Test func `Product.products has the prices, periods and offers of the customer's storefront`() async throws {
        let kiosk = try await Kiosk(owner: nil)
        try await kiosk.operation(.customer, "Ida", [.storefront: "DEU"])
        try await kiosk.operation(.acquire, "Ida")
        try await kiosk.device("Ida").run {
            let products = try await Product.products(for: [
                Kiosk.everything, Kiosk.monthly, Kiosk.yearly, "com.example.unknown",
            ])
            #expect(products.map(\.id) == [Kiosk.everything, Kiosk.monthly, Kiosk.yearly])
            let everything = try #require(products.first)
            #expect(everything.price == Decimal(string: "10.99"))
            #expect(everything.displayPrice == "10,99\u{a0}€")
            #expect((everything.price * 2).formatted(everything.priceFormatStyle) == "21,98\u{a0}€")
            #expect(everything.type == .nonConsumable)
            #expect(everything.isFamilyShareable)
            #expect(everything.subscription == nil)
            let plan = try #require(products[1].subscription)
            #expect(plan.subscriptionPeriod == .monthly)
            #expect(plan.subscriptionGroupID == Kiosk.group)
            #expect(plan.groupLevel == 2)
            #expect(plan.introductoryOffer?.paymentMode == .freeTrial)
            #expect(plan.introductoryOffer?.period == .weekly)
            #expect(plan.promotionalOffers.map(\.id) == ["thanks"])
            #expect(plan.winBackOffers.map(\.periodCount) == [2])
            #expect(products[2].subscription?.subscriptionPeriod == .yearly)
        }
    }

    @Test func `only customers who never subscribed in the group get the introductory offer`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let plan = try #require(try await product(Kiosk.monthly).subscription)
            #expect(await plan.isEligibleForIntroOffer)
            try await kiosk.buy(Kiosk.pro)
            #expect(await !plan.isEligibleForIntroOffer)
        }
    }

    @Test func `a product that was removed from sale isn't listed, and can't be bought`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let product = try await product(Kiosk.everything)
            try await kiosk.operation(.withdraw, nil, [.product: Kiosk.everything])
            #expect(try await Product.products(for: [Kiosk.everything]).isEmpty)
            await #expect(throws: Product.PurchaseError.productUnavailable) { try await product.purchase() }
        }
    }

    @Test func `a purchase has the app's account token and quantity, and is an entitlement at once`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let token = UUID()
            let result = try await product(Kiosk.coins).purchase(options: [.appAccountToken(token), .quantity(3)])
            guard case .success(.verified(let bought)) = result else { throw Unexpected() }
            #expect(bought.appAccountToken == token)
            #expect(bought.purchasedQuantity == 3)
            #expect(bought.price == Decimal(string: "2.97"))
            _ = try await product(Kiosk.everything).purchase()
            #expect(await entitledProducts() == [Kiosk.everything])
            await #expect(throws: Product.PurchaseError.invalidQuantity) {
                try await product(Kiosk.everything).purchase(options: [.quantity(2)])
            }
        }
    }

    @Test func `buying an owned non-consumable again delivers it again without another charge`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            guard case .success(let first) = try await product(Kiosk.everything).purchase(),
                case .success(let second) = try await product(Kiosk.everything).purchase()
            else { throw Unexpected() }
            #expect(first.unsafePayloadValue.id == second.unsafePayloadValue.id)
            #expect(await kiosk.store.state.transactions.count == 1)
        }
    }

    @Test func `a subscription upgrade applies at once, and a downgrade at the next renewal`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            _ = try await product(Kiosk.monthly).purchase()
            guard case .success(let upgrade) = try await product(Kiosk.pro).purchase() else { throw Unexpected() }
            #expect(upgrade.unsafePayloadValue.productID == Kiosk.pro)
            guard case .success(let downgrade) = try await product(Kiosk.monthly).purchase() else {
                throw Unexpected()
            }
            #expect(downgrade.unsafePayloadValue.productID == Kiosk.pro)
            let status = try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first)
            #expect(try status.renewalInfo.payloadValue.autoRenewPreference == Kiosk.monthly)
            #expect(await upgrade.unsafePayloadValue.subscriptionStatus == status)
        }
    }

    @Test func `only customers who are eligible for a subscription offer get it`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let monthly = try await product(Kiosk.monthly)
            let comeback = try #require(monthly.subscription?.winBackOffers.first)
            await #expect(throws: Product.PurchaseError.ineligibleForOffer) {
                try await monthly.purchase(options: [.winBackOffer(comeback)])
            }
            await #expect(throws: Product.PurchaseError.invalidOfferIdentifier) {
                try await monthly.purchase(
                    options: Set(Product.PurchaseOption.promotionalOffer("none", compactJWS: "")))
            }
            _ = try await monthly.purchase()
            try await kiosk.operation(.cancel, "Ada", [.product: Kiosk.monthly])
            try await kiosk.advance("40d")
            guard case .success(let back) = try await monthly.purchase(options: [.winBackOffer(comeback)]) else {
                throw Unexpected()
            }
            #expect(back.unsafePayloadValue.offer?.type == .winBack)
            #expect(back.unsafePayloadValue.price == Decimal(string: "0.99"))
        }
    }

    @Test func `a test can make a purchase be canceled, fail or be forbidden`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            let product = try await product(Kiosk.everything)
            device.behavior.purchases = .isCancelled
            guard case .userCancelled = try await product.purchase() else { throw Unexpected() }
            device.behavior.purchases = .fails(Product.PurchaseError.invalidOfferPrice)
            await #expect(throws: Product.PurchaseError.invalidOfferPrice) { try await product.purchase() }
            device.behavior.purchases = .completes
            device.behavior.canMakePayments = false
            #expect(!AppStore.canMakePayments)
            await #expect(throws: Product.PurchaseError.purchaseNotAllowed) { try await product.purchase() }
            device.behavior.canMakePayments = true
            try await kiosk.operation(.failBilling, "Ada")
            await #expect(throws: StoreKitError.self) { try await product.purchase() }
            #expect(await entitledProducts().isEmpty)
            device.behavior.purchases = .unverified(.brokenSignature)
            try await kiosk.operation(.customer, "Ben")
            try await kiosk.operation(.acquire, "Ben")
            device.signIn(as: "Ben")
            guard case .success(.unverified(_, .invalidSignature)) = try await product.purchase() else {
                throw Unexpected()
            }
        }
    }

    @Test func `two approvals at the same time buy each waiting purchase once`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            device.behavior.purchases = .waitsForApproval
            for _ in 1...3 {
                guard case .pending = try await product(Kiosk.coins).purchase() else { throw Unexpected() }
            }
            async let first: Void = device.approvePurchases()
            async let second: Void = device.approvePurchases()
            _ = try await (first, second)
            #expect(await kiosk.store.state.transactions.count == 3)
        }
    }

    @Test func `a purchase that fails when it's approved still waits for approval`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            device.behavior.purchases = .waitsForApproval
            guard case .pending = try await product(Kiosk.everything).purchase() else { throw Unexpected() }
            try await kiosk.operation(.failBilling, "Ada")
            for _ in 1...2 {
                await #expect(throws: StoreKitError.self) { try await device.approvePurchases() }
            }
            device.declinePurchases()
            try await device.approvePurchases()
            #expect(await kiosk.store.state.transactions.isEmpty)
        }
    }

    @Test func `an Ask to Buy purchase reaches Transaction.updates only if a parent approves it`() async throws {
        let kiosk = try await Kiosk()
        let device = try await kiosk.device()
        try await device.run {
            device.behavior.purchases = .waitsForApproval
            guard case .pending = try await product(Kiosk.coins).purchase() else { throw Unexpected() }
            device.declinePurchases()
            guard case .pending = try await product(Kiosk.everything).purchase() else { throw Unexpected() }
            var updates = StoreKit.Transaction.updates.makeAsyncIterator()
            try await device.approvePurchases()
            #expect(try #require(await updates.next()).payloadValue.productID == Kiosk.everything)
            #expect(await kiosk.store.state.transactions.count == 1)
        }
    }

    @Test func `a non-consumable that was refunded can be bought again`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            func buy() async throws -> StoreKit.Transaction {
                guard case .success(let bought) = try await product(Kiosk.everything).purchase() else {
                    throw Unexpected()
                }
                return try bought.payloadValue
            }
            let first = try await buy()
            // The App Store delivers the same purchase again while the customer owns it.
            #expect(try await buy().id == first.id)
            try await kiosk.operation(.refund, "Ada", [.product: Kiosk.everything])
            let second = try await buy()
            #expect(second.id != first.id && second.revocationDate == nil)
        }
    }

    @Test func `simulatesAskToBuyInSandbox has no effect in production`() async throws {
        let production = try await Kiosk()
        try await production.device().run {
            let result = try await product(Kiosk.everything).purchase(options: [.simulatesAskToBuyInSandbox(true)])
            guard case .success = result else { throw Unexpected() }
        }
        let sandbox = try await Kiosk(.sandbox)
        try await sandbox.device().run {
            let result = try await product(Kiosk.everything).purchase(options: [.simulatesAskToBuyInSandbox(true)])
            guard case .pending = result else { throw Unexpected() }
        }
    }
}
