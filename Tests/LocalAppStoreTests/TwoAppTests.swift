import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import LocalAppStore

/// Operations in a local App Store that sells two apps.
@Suite struct `operations in a store with two apps` {
    private static let notes = "com.example.notes"
    private static let pro = notes + ".pro"

    /// A store in which Ada and Byron are a family. They have the app with the index 0, and not the one with index 1.
    private func state() throws -> AppStoreState {
        let notes = AppStoreApp(
            bundleID: Self.notes, appAppleID: 828_838_135,
            releases: [
                AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2014-01-10"))
            ], prices: [AppPrice(from: Shop.date("2014-01-10"), price: 2990)],
            products: [
                AppStoreProduct(id: Self.pro, type: .nonConsumable, price: 990, isFamilyShareable: true),
                // The first app has this product already.
                AppStoreProduct(id: Shop.coins, type: .nonConsumable, price: 1),
            ])
        var state = AppStoreState(
            seed: "two apps", startingAt: Shop.date("2014-09-06T10:00:00Z"), apps: [Shop.app(), notes])
        for name in ["Ada", "Byron"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name, app: Shop.bundleID)
        }
        return state
    }

    @Test(
        arguments: [
            (.acquire, [.customer: "Ada"]), (.update, [.customer: "Ada"]), (.refundApp, [.customer: "Ada"]),
            (.rescindConsent, [.customer: "Ada"]), (.release, [.platform: "iOS", .build: "2", .version: "1.1"]),
            (.setPrice, [.price: "1"]), (.notifyAt, [.url: "https://example.com/a"]), (.testNotification, [:]),
        ] as [(AppStoreOperation.Kind, [AppStoreOperation.Parameter: String])])
    func `an operation on an app must name the app, and an app that the store has`(
        kind: AppStoreOperation.Kind, parameters: [AppStoreOperation.Parameter: String]
    ) throws {
        var state = try state()
        #expect(throws: AppStoreStateError.whichApp) { try state.perform(AppStoreOperation(kind, parameters)) }
        #expect(throws: AppStoreStateError.noApp("com.example.none")) {
            try state.perform(AppStoreOperation(kind, parameters.merging([.app: "com.example.none"]) { $1 }))
        }
        #expect(state.acquisitions.count == 2 && state.notifications.isEmpty)
    }

    @Test func `each operation on an app changes only the named app`() throws {
        var state = try state()
        func perform(
            _ kind: AppStoreOperation.Kind, _ parameters: [AppStoreOperation.Parameter: String] = [:]
        ) throws {
            try state.perform(AppStoreOperation(kind, parameters.merging([.app: Self.notes]) { $1 }))
        }
        try perform(.release, [.platform: "iOS", .build: "2", .version: "1.1"])
        #expect(state.apps.map(\.releases.count) == [3, 2])
        #expect(
            state.apps[1].releases.last
                == AppStoreRelease(platform: .iOS, build: "2", version: "1.1", releasedAt: state.now))
        try perform(.setPrice, [.price: "0.99"])
        #expect(state.apps.map(\.prices.count) == [2, 2])
        #expect(state.apps[1].prices.last == AppPrice(from: state.now, price: 990))
        try perform(.notifyAt, [.url: "https://example.com/b"])
        #expect(state.apps.map(\.notificationURL) == [nil, "https://example.com/b"])
        try perform(.acquire, [.customer: "Byron"])
        #expect(state.acquisitions.map(\.app) == [0, 0, 1] && state.acquisitions[2].account == 1)
        #expect(state.acquisitions[2].release.build == "2" && state.acquisitions[2].price == 990)
        state.advance(to: Shop.date("2014-10-01"))
        try perform(.release, [.platform: "iOS", .build: "3", .version: "1.2"])
        try perform(.update, [.customer: "Byron"])
        #expect(state.acquisitions.map(\.installedRelease.build) == ["37", "37", "3"])
        try perform(.rescindConsent, [.customer: "Byron"])
        try perform(.testNotification)
        #expect(state.notificationNames() == ["RESCIND_CONSENT", "TEST"])
        #expect(state.notifications.map(\.app) == [1, 1] && state.notifications[0].subject == .acquisition(2))
        #expect(state.outbox == [0, 1])
        try perform(.refundApp, [.customer: "Byron"])
        #expect(state.acquisitions.map(\.refundedAt) == [nil, nil, state.now])
    }

    @Test func `a product that another app has already is ignored`() throws {
        var state = try state()
        let coins = try state.buy(Shop.coins, "Ada")
        #expect(coins.app == 0 && coins.price == 990)
        #expect(state.products.count(where: { $0.id == Shop.coins }) == 1)
    }

    @Test func `a member who gets a second app gets only what the family shares in that app`() throws {
        var state = try state()
        try state.buy(Shop.monthly, "Ada")
        try state.share("Ada", Shop.monthly)
        try state.acquire("Ada", app: Self.notes)
        try state.buy(Self.pro, "Ada")
        try state.share("Ada", Self.pro)
        let sent = state.notifications.count
        try state.acquire("Byron", app: Self.notes)
        #expect(state.notificationNames(since: sent) == ["ONE_TIME_CHARGE"])
        #expect(state.transactions.last?.app == 1 && state.transactions.last?.account == 1)
        #expect(try state.entitledProducts(of: "Byron") == [Shop.monthly, Self.pro])
    }

    @Test func `a release in another app has another external identifier`() throws {
        let state = try state()
        #expect(state.externalIdentifier(of: state.apps[0].releases[0], app: 0) == 861_000_000)
        #expect(state.externalIdentifier(of: state.apps[0].releases[2], app: 0) == 861_000_002)
        #expect(state.externalIdentifier(of: state.apps[1].releases[0], app: 1) == 861_010_000)
    }

    @Test func `artifacts and customers can be asked for by app`() async throws {
        var state = try state()
        try state.acquire("Ada", app: Self.notes)
        for product in [Shop.monthly, Self.pro] { try state.buy(product, "Ada") }
        let store = LocalAppStore(state, signer: Shop.signer) { _, _, _ in .success }
        for (app, product, acquisition, renewals) in [
            (Shop.bundleID, Shop.monthly, 0, [Shop.monthly]), (Self.notes, Self.pro, 2, []),
        ] {
            let artifacts = try await store.artifacts(of: "Ada", showing: .both, app: app)
            func field(_ name: String, _ jws: String) throws -> String {
                try #require(try UnverifiedJWS(Array(jws.utf8)).payload.text(name))
            }
            #expect(try field("bundleId", try #require(artifacts.appTransaction)) == app)
            #expect(try #require(artifacts.transactions).map { try field("productId", $0) } == [product])
            #expect(try artifacts.renewalInfos.map { try field("productId", $0) } == renewals)
            let id = state.id(of: state.acquisitions[acquisition])
            #expect(artifacts.appTransactionID == id)
            #expect(try await store.customer("Ada", app: app) == KnownCustomer(name: "Ada", appTransactionID: id))
        }
        #expect(try await store.customer("Byron", app: Self.notes).appTransactionID == nil)
        await #expect(throws: AppStoreStateError.whichApp) { try await store.customer("Ada") }
    }
}
