import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import LocalAppStore

/// Requests of a device to a local App Store that sells two apps.
@Suite struct `a device of a customer with two apps` {
    private static let notes = "com.example.notes"
    private static let lifetime = notes + ".lifetime"
    private static let plan = notes + ".plan"

    /// Returns the interface of a store in which Ada bought a product and a subscription in each app.
    private func interface() throws -> DeviceInterface {
        let notes = AppStoreApp(
            bundleID: Self.notes, appAppleID: 828_838_135,
            releases: [
                AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2014-01-10"))
            ], prices: [],
            products: [
                AppStoreProduct(id: Self.lifetime, type: .nonConsumable, price: 990),
                AppStoreProduct(
                    id: Self.plan, type: .autoRenewable, price: 990, group: "plans", level: 1,
                    period: CalendarPeriod(months: 1)),
            ])
        var state = AppStoreState(
            seed: "two apps", startingAt: Shop.date("2026-01-10T12:00:00Z"), apps: [Shop.app(), notes])
        try state.addCustomer("Ada")
        for app in [Shop.bundleID, Self.notes] { try state.acquire("Ada", app: app) }
        for product in [Shop.everything, Self.lifetime, Self.plan, Shop.monthly] { try state.buy(product, "Ada") }
        return DeviceInterface(store: LocalAppStore(state, signer: Shop.signer, sender: { _, _, _ in .success }))
    }

    /// Returns the fields of a device's request for an app.
    private func request(of app: String, _ more: JSONObject = [:]) -> JSONObject {
        var body: JSONObject = [
            "device": .string("00000000-0000-4000-8000-000000000001"), "app": .string(app),
        ]
        for member in more.members { body[member.name] = member.value }
        return body
    }

    /// Returns a field of each signed artifact in a list of a response.
    private func signed(_ field: String, _ artifact: String, in elements: [JSONObject]) throws -> [String?] {
        try elements.map { element in
            let text = try #require(element.text(artifact))
            return try UnverifiedJWS(Array(text.utf8)).payload.text(field)
        }
    }

    @Test func `a device gets transactions and subscriptions only for its app`() async throws {
        let interface = try interface()
        for (app, once, subscription) in [
            (Shop.bundleID, Shop.everything, Shop.monthly), (Self.notes, Self.lifetime, Self.plan),
        ] {
            let contents = try await interface.answer(.contents, request(of: app))
            #expect(contents.text("bundleID") == app)
            let transactions = contents.objects("transactions")
            #expect(try signed("productId", "jws", in: transactions) == [once, subscription])
            #expect(try signed("bundleId", "jws", in: transactions) == [app, app])
            let subscriptions = contents.objects("subscriptions")
            #expect(try signed("productId", "transaction", in: subscriptions) == [subscription])
            #expect(try signed("productId", "renewalInfo", in: subscriptions) == [subscription])
        }
    }

    @Test func `a device finds only the products that its app sells`() async throws {
        let interface = try interface()
        let ids = [Shop.coins, Self.lifetime, Shop.everything, Self.plan].map { JSONValue.string($0) }
        for (app, expected) in [
            (Shop.bundleID, [Shop.coins, Shop.everything]), (Self.notes, [Self.lifetime, Self.plan]),
        ] {
            let response = try await interface.answer(.products, request(of: app, ["ids": .array(ids)]))
            #expect(response.objects("products").compactMap { $0.text("id") } == expected)
        }
    }

    @Test func `a purchase without a device is refused before the customer is charged`() async throws {
        let interface = try interface()
        let before = await interface.store.state.transactions.count
        let body: JSONObject = ["app": .string(Shop.bundleID), "product": .string(Shop.coins)]
        let refusal = await #expect(throws: DeviceRefusal.self) { try await interface.answer(.purchase, body) }
        #expect(refusal?.code == .badRequest)
        #expect(refusal?.description == "`device` must be the UUID of a device")
        #expect(await interface.store.state.transactions.count == before)
    }

    @Test func `a device can't buy a product of another app, even if the customer has that app`() async throws {
        let interface = try interface()
        let before = await interface.store.state.transactions.count
        for (app, product) in [(Shop.bundleID, Self.lifetime), (Self.notes, Shop.coins)] {
            let refusal = await #expect(throws: DeviceRefusal.self) {
                try await interface.answer(.purchase, request(of: app, ["product": .string(product)]))
            }
            #expect(refusal?.code == .unknown)
            #expect(refusal?.description.contains("has no product `\(product)`") == true)
        }
        #expect(await interface.store.state.transactions.count == before)
    }
}
