import CalculatorSeller
import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenurePolicyFile
import Testing

@Suite(.timeLimit(.minutes(2))) struct GroupTests {
    private static let news = "com.example.calculator.news"
    private static let plan = "com.example.calculator.plan"

    /// Returns a device of Ada, who has a subscription in each of two groups.
    private func device() async throws -> LocalStore {
        let text = """
            scenario: Two groups
            begins: 2014-09-06
            app:
              bundleID: com.example.calculator
              appleID: 828838134
              releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
              products:
                \(Self.news): { type: autoRenewable, price: 0.99, group: news, period: P1M }
                \(Self.plan): { type: autoRenewable, price: 1.99, group: plans, period: P1Y }
            customers: { Ada: {} }
            timeline:
              - { at: 2014-09-06, Ada: [acquires, { buys: \(Self.plan) }, { buys: \(Self.news) }] }
            """
        let scenario = try ScenarioReader.read(Array(text.utf8), named: "groups.yaml")
        let store = LocalAppStore(
            scenario.header.state, signer: AppStoreSigner(authority: Kiosk.authority)
        ) { _, _, _ in .success }
        try await scenario.perform(in: store)
        return try await LocalStore(store, customer: "Ada")
    }

    @Test func `the statuses of all subscriptions come group by group, in the order of the groups' IDs`() async throws {
        try await device().run {
            var products: [[String]] = []
            var groups: [String] = []
            for await (group, statuses) in Product.SubscriptionInfo.Status.all {
                groups.append(group)
                products.append(statuses.map { $0.transaction.unsafePayloadValue.productID })
            }
            #expect(products == [[Self.news], [Self.plan]] && groups == groups.sorted())
            for (group, product) in zip(groups, [Self.news, Self.plan]) {
                let statuses = try await Product.SubscriptionInfo.status(for: group)
                #expect(statuses.map { $0.renewalInfo.unsafePayloadValue.currentProductID } == [product])
                let bought = try #require(await StoreKit.Transaction.latest(for: product)).payloadValue
                #expect(bought.subscriptionGroupID == group)
                #expect(await bought.subscriptionStatus == statuses.first)
                #expect(try await Product.SubscriptionInfo.status(transactionID: bought.id) == statuses.first)
            }
            #expect(await entitledProducts() == [Self.news, Self.plan])
        }
    }

    @Test func `a device's receipt is deleted with the device, if the test set no folder`() async throws {
        let kiosk = try await Kiosk()
        var device: LocalStore? = try await kiosk.device()
        let path = try #require(device?.receiptURL.path)
        #expect(FileManager.default.fileExists(atPath: path))
        device = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
