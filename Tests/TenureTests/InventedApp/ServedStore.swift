import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenureJSON
import Testing

@testable import Tenure

/// A local App Store that sells the invented calculator and answers over HTTP, as `tenure local-store run` does.
struct ServedStore: Sendable {
    let store: LocalAppStore
    let url: URL
    /// The folder with the state of the devices.
    let folder: URL

    static let coins = "com.example.calculator.coins"
    /// Sold by other code of the app: the policy doesn't name it.
    static let theme = "com.example.calculator.theme"

    /// Runs a store with Ada, who paid in 2014, and Dana, who got the app when it was free. Its clock shows
    /// `InventedApp.now`.
    static func run(
        _ environment: AppStoreEnvironment = .production,
        _ body: @escaping @Sendable (ServedStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let scenario = try ScenarioReader.read(Array(story(environment).utf8), named: "story.yaml")
        let store = LocalAppStore(
            scenario.header.state, signer: AppStoreSigner(authority: RealService.authority)
        ) { _, _, _ in .success }
        try await scenario.perform(in: store)
        try await store.perform(AppStoreOperation(.advance, [.to: InventedApp.now.rfc3339]))
        let server = AppStoreServer(store: store, key: try ServerAPIKey(seed: "client"), port: 0)
        try await server.serve { port in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            try await body(ServedStore(store: store, url: url, folder: folder))
        }
    }

    private static func story(_ environment: AppStoreEnvironment) -> String {
        """
        scenario: The calculator
        begins: 2014-01-01
        environment: \(environment.rawValue)
        app:
          bundleID: \(InventedApp.bundleID)
          appleID: 828838134
          releases:
            - { platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }
            - { platform: iOS, build: "120", version: "2.0", at: 2015-06-10T18:00:00Z }
          prices:
            - { from: 2014-01-10, price: 4.99 }
            - { from: 2015-06-10T18:00:00Z, price: free }
          products:
            \(InventedApp.everything): { type: nonConsumable, price: 9.99 }
            \(theme): { type: nonConsumable, price: 0.99 }
            \(coins): { type: consumable, price: 0.99 }
            \(InventedApp.yearly): { type: autoRenewable, price: 19.99, period: P1Y }
        customers: { Ada: {}, Dana: {} }
        timeline:
          - at: 2014-05-01T10:00:00Z
            Ada: acquires
          - at: 2016-02-01
            Dana: acquires
            Ada: updates
        """
    }

    /// A customer's device with a newly installed app. StoreKit runs on it inside the closure.
    func device(
        of customer: String, _ body: @escaping @Sendable (LocalStore) async throws -> Void
    ) async throws {
        let device = try await LocalStore(url: url, customer: customer)
        try await device.run { try await body(device) }
    }

    /// Options with the state in a folder of this test.
    func options(_ change: (inout Tenure.Options) -> Void = { _ in }) -> Tenure.Options {
        var options = Tenure.Options()
        options.folder = folder
        // A busy machine answers late.
        options.appStoreTimeout = 60
        change(&options)
        return options
    }

    /// The app starts, with the public initializer.
    func start(
        policy: Policy = InventedApp.policy(whileUndetermined: .deny),
        _ change: (inout Tenure.Options) -> Void = { _ in }
    ) throws -> Tenure {
        try Tenure(policy: .policy(policy), options: options(change))
    }

    /// Waits until all transactions of this product are finished. On a busy machine that happens after the purchase has
    /// returned.
    func finished(_ product: String) async throws {
        while await unfinished().contains(product) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// A customer buys a product on another device.
    func buy(_ product: String, for customer: String) async throws {
        try await store.perform(AppStoreOperation(.buy, [.customer: customer, .product: product]))
    }

    /// The App Store refunds a purchase.
    func refund(_ product: String, of customer: String) async throws {
        try await store.perform(AppStoreOperation(.refund, [.customer: customer, .product: product]))
    }

    /// The products with unfinished transactions.
    func unfinished() async -> [String] {
        var products: [String] = []
        for await result in StoreKit.Transaction.unfinished { products.append(result.unsafePayloadValue.productID) }
        return products.sorted()
    }
}

/// The product with this ID.
func product(_ id: String) async throws -> Product {
    try #require(try await Product.products(for: [id]).first)
}
