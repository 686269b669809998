import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenureCore
import TenureMint
import Testing

@testable import Tenure

/// Terms of what a local App Store sells, through StoreKit.
@Suite struct `Terms of StoreKit's products` {
    private static let shop = """
        scenario: A paywall
        begins: 2026-01-01
        app:
          bundleID: com.example.calculator
          appleID: 828838134
          releases:
            - { platform: iOS, build: "310", version: "5.0", at: 2025-12-01 }
          products:
            com.example.calculator.everything: { type: nonConsumable, price: 9.99 }
            com.example.calculator.season: { type: nonRenewing, price: 4.99 }
            com.example.calculator.yearly:
              type: autoRenewable
              price: 24.99
              group: plans
              period: P1Y
              introductory: { discount: freeTrial, period: P3D }
            com.example.calculator.monthly:
              type: autoRenewable
              price: 2.99
              group: plans
              period: P1M
              introductory: { discount: payAsYouGo, period: P1M, count: 3, price: 0.99 }
            com.example.calculator.weekly:
              type: autoRenewable
              price: 1.99
              group: weeks
              period: P1W
              introductory: { discount: payUpFront, period: P1M, price: 3.99 }
            com.example.calculator.halfyear:
              type: autoRenewable
              price: 14.99
              group: halves
              period: P6M
              introductory: { discount: freeTrial, period: P2W }
            com.example.calculator.coins: { type: consumable, price: 0.99 }
        customers: { Ada: {} }
        timeline: []
        """

    /// The local App Store with Ada, who has the app, and her device.
    private func open() async throws -> (store: LocalAppStore, device: LocalStore) {
        let scenario = try ScenarioReader.read(Array(Self.shop.utf8), named: "shop.yaml")
        let signer = AppStoreSigner(authority: try TestAuthority())
        let store = LocalAppStore(scenario.header.state, signer: signer) { _, _, _ in .success }
        try await store.perform(AppStoreOperation(.customer, [.customer: "Ada"]))
        try await store.perform(AppStoreOperation(.acquire, [.customer: "Ada"]))
        return (store, try await LocalStore(store, customer: "Ada"))
    }

    private static let listed = [
        "com.example.calculator.everything", "com.example.calculator.yearly", "com.example.calculator.monthly",
        "com.example.calculator.season",
    ]

    private func terms(of products: [String] = Self.listed) async throws -> [Tenure.ProductTerms] {
        let base = InventedApp.policy()
        let season = Entitlement.Product(
            id: "com.example.calculator.season", length: CalendarPeriod(months: 3))
        let policy = try Policy(
            app: base.app, eras: base.eras, buildNumbers: base.buildNumbers,
            entitlements: base.entitlements + [Entitlement(name: "seasonal", products: [season])])
        let tenure = Tenure(Setup(access: StoreKitAccess(), storage: MemoryStateStorage(), policy: .policy(policy)))
        var terms: [Tenure.ProductTerms] = []
        for product in try await Product.products(for: products) {
            terms.append(await tenure.productTerms(of: product))
        }
        return terms.sortedByPeriod()
    }

    @Test func `product terms have StoreKit's offers and prices, and the policy's lengths of time`() async throws {
        let (_, device) = try await open()
        let english = Locale(identifier: "en_US")
        let texts = try await device.run { try await terms().map { $0.text(in: english) } }
        #expect(
            texts == [
                "$0.99 per month for 3 months, then $2.99 per month", "$4.99 for 3 months",
                "3 days free, then $24.99 per year", "$9.99 once",
            ])
    }

    @Test func `product terms have StoreKit's weeks, payments up front and consumables`() async throws {
        let (_, device) = try await open()
        let terms = try await device.run {
            try await self.terms(of: [
                "com.example.calculator.coins", "com.example.calculator.halfyear", "com.example.calculator.weekly",
            ])
        }
        #expect(
            terms.map { $0.text(in: Locale(identifier: "en_US")) } == [
                "$3.99 for 1 month, then $1.99 per week", "2 weeks free, then $14.99 every 6 months", "$0.99",
            ])
        #expect(terms.map(\.kind) == [.autoRenewable, .autoRenewable, .consumable])
        #expect(terms.map(\.id).last == "com.example.calculator.coins")
    }

    @Test func `product terms don't show an offer that the customer has already used`() async throws {
        let (store, device) = try await open()
        try await store.perform(
            AppStoreOperation(.buy, [.customer: "Ada", .product: "com.example.calculator.monthly"]))
        let german = Locale(identifier: "de_DE")
        let texts = try await device.run { try await terms().map { $0.text(in: german) } }
        #expect(texts.first?.hasSuffix(" pro Monat") == true && texts.first?.contains("für") == false)
        #expect(texts.contains { $0.hasSuffix(" pro Jahr") && !$0.contains("kostenlos") })
    }
}
