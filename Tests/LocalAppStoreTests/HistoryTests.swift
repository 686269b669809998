import CalculatorSeller
import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

/// Returns a store in which Ada has 45 purchases of coins and a monthly plan.
private func busy(_ environment: AppStoreEnvironment = .production) throws -> AppStoreState {
    var state = try Shop.state(of: "Ada", environment, at: "2026-01-10T12:00:00Z", url: "https://example.com/hook")
    try state.buy(Shop.monthly, "Ada")
    for _ in 0..<45 { try state.buy(Shop.coins, "Ada") }
    state.advance(to: Shop.date("2026-01-20"))
    return state
}

extension StoreClient {
    /// Returns all pages. The request for each page has the revision of the previous page.
    fileprivate func pages(_ path: String, query: String = "") async throws -> (pages: [[String]], revision: String) {
        var pages: [[String]] = []
        var revision: String?
        while pages.count < 20 {
            let next = (query.isEmpty ? "" : query + "&") + (revision.map { "revision=\($0)" } ?? "")
            let answer = try await get(path + "?" + next)
            #expect(answer.status == 200)
            pages.append(
                try answer.body.texts("signedTransactions").map { jws in
                    try Shop.verifier.verifyTransaction(Array(jws.utf8), now: nil).payload.transactionID ?? ""
                })
            revision = answer.body.text("revision")
            if answer.body["hasMore"] == .boolean(false) { break }
        }
        return (pages, try #require(revision))
    }
}

@Test func `a transaction history comes in pages of twenty, with each transaction once`() async throws {
    let state = try busy()
    try await withStoreClient(state) { client async throws in
        let path = "/inApps/v2/history/\(state.id(of: state.transactions[3]))"
        let ascending = try await client.pages(path).pages
        #expect(ascending.map(\.count) == [20, 20, 7])
        #expect(ascending.flatMap { $0 } == state.transactions.map { state.id(of: $0) })
        let descending = try await client.pages(path, query: "sort=DESCENDING").pages
        #expect(descending.flatMap { $0 } == ascending.flatMap { $0 }.reversed())
    }
}

@Test func `a history request with the revision of an earlier response gets only transactions that changed since`()
    async throws
{
    let state = try busy()
    try await withStoreClient(state) { client async throws in
        let path = "/inApps/v2/history/\(state.id(of: state.transactions[0]))"
        let revision = try await client.pages(path).revision
        #expect(try await client.pages(path, query: "revision=\(revision)").pages == [[]])
        try await client.store.perform(
            AppStoreOperation(.refund, [.customer: "Ada", .product: Shop.coins, .periodsAgo: "44"]))
        let changed = try await client.get("\(path)?revision=\(revision)")
        #expect(changed.body.texts("signedTransactions").count == 1)
        #expect(changed.body.text("revision") != revision)
        let refunds = try await client.pages("/inApps/v2/refund/lookup/\(state.id(of: state.transactions[0]))")
        #expect(refunds.pages == [[state.id(of: state.transactions[1])]])
    }
}

@Test func `a transaction history contains only transactions that match the request's filters`() async throws {
    var state = try busy()
    try state.refund("Ada", Shop.coins)
    let changed = state
    try await withStoreClient(changed) { client async throws in
        let path = "/inApps/v2/history/\(changed.id(of: changed.transactions[0]))"
        func count(_ query: String) async throws -> Int {
            try await client.pages(path, query: query).pages.flatMap { $0 }.count
        }
        #expect(try await count("productType=AUTO_RENEWABLE") == 2)
        #expect(try await count("productType=AUTO_RENEWABLE&productType=CONSUMABLE") == 47)
        #expect(try await count("productId=\(Shop.coins)") == 45)
        #expect(try await count("subscriptionGroupIdentifier=\(Shop.group)") == 2)
        #expect(try await count("subscriptionGroupIdentifier=plans") == 0)
        #expect(try await count("revoked=true") == 1)
        #expect(try await count("revoked=False") == 46)
        #expect(try await count("excludeRevoked=true") == 46)
        #expect(try await count("inAppOwnershipType=FAMILY_SHARED") == 0)
        #expect(try await count("startDate=1768500000000") == 1)
        #expect(try await count("endDate=1768500000000") == 46)
        // A purchase at the beginning is in the history, and one at the end isn't.
        #expect(try await count("startDate=1768046400000") == 47)
        #expect(try await count("endDate=1768046400000") == 0)
    }
}

@Test func `too many requests to the App Store Server API get status 429 with a time in Retry-After`() async throws {
    let state = try busy(.sandbox)
    // The sandbox allows a tenth of Apple's limit, which is one request per second. The test allows a hundredth of
    // that.
    try await withStoreClient(state, rateLimitShare: 0.01) { client async throws in
        let path = "/inApps/v1/notifications/test/x"
        for _ in 0..<3 { #expect(try await client.get(path).status == 400) }
        let response = try await client.http.execute(
            uri: path, method: .get,
            headers: [
                .authorization:
                    "Bearer \(try BearerToken.make(key: client.key, bundleID: Shop.bundleID, now: client.now))"
            ]
        ) { $0 }
        #expect(response.status.code == 429)
        // The next hour, in milliseconds since 1970.
        #expect(response.headers[.retryAfter] == "1795179600000")
        #expect(try await client.get("/inApps/v1/transactions/x").status == 400)
    }
}

@Test func `an injected fault of the local App Store affects the given number of requests`() async throws {
    let state = try busy()
    try await withStoreClient(state) { client async throws in
        let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
        await client.fault.inject(.generalInternalRetryable, requests: 2)
        for _ in 0..<2 {
            let answer = try await client.get(path)
            #expect(answer.status == 500)
            #expect(answer.body.integer("errorCode") == 5_000_001)
        }
        #expect(try await client.get(path).status == 200)
    }
}

@Test func `a subscription group's ID is its name if that is a number, otherwise a generated number`() throws {
    #expect(Shop.state().groupID(Shop.group, of: 0) == Shop.group)
    var app = Shop.app()
    for index in app.products.indices where app.products[index].group != nil { app.products[index].group = "plans" }
    let state = AppStoreState(seed: "groups", startingAt: Shop.date("2026-01-10"), apps: [app])
    let id = state.groupID("plans", of: 0)
    #expect(id.utf8.count == 8 && Int(id) != nil)
    for product in [Shop.monthly, Shop.yearly, Shop.pro] {
        #expect(state.groupID(ofProduct: try state.productIndex(product)) == id)
    }
}

@Test func `the local App Store looks up orders only in production`() async throws {
    for environment in [AppStoreEnvironment.production, .sandbox] {
        let state = try busy(environment)
        try await withStoreClient(state) { client async throws in
            let answer = try await client.get("/inApps/v1/lookup/\(state.orderID(of: state.transactions[2]))")
            #expect(answer.body.integer("status") == (environment.isProduction ? 0 : 1))
            #expect(answer.body.texts("signedTransactions").count == (environment.isProduction ? 1 : 0))
        }
    }
}

@Test func `an order look-up finds the payer's purchase in the requested app, even a refunded one`() async throws {
    var state = try busy()
    try state.addCustomer("Ben", family: "Lovelace")
    try state.addCustomer("Cleo", family: "Lovelace")
    for customer in ["Ben", "Cleo"] { try state.acquire(customer) }
    try state.buy(Shop.everything, "Ben")
    let bought = try #require(state.transactions.last)
    try state.share("Ben", Shop.everything)
    let shared = try #require(state.transactions.last)
    #expect(shared.isFamilyShared)
    try state.refund("Ada", Shop.coins)
    let refunded = try #require(state.transactions.last { $0.revocation != nil })
    state.add(AppStoreApp(bundleID: "com.example.other", appAppleID: 1, releases: []))
    try await withStoreClient(state) { [state] client async throws in
        func orders(_ id: String, bundleID: String = Shop.bundleID) async throws -> [String?] {
            let answer = try await client.get("/inApps/v1/lookup/\(id)", bundleID: bundleID)
            let transactions = try answer.body.texts("signedTransactions").map { jws in
                try Shop.verifier.verifyTransaction(Array(jws.utf8), now: nil).payload.transactionID
            }
            // An unknown order is a response with status 1, not an error.
            #expect(answer.status == 200)
            #expect(answer.body.integer("status") == (transactions.isEmpty ? 1 : 0))
            return transactions
        }
        #expect(try await orders(state.orderID(of: bought)) == [state.id(of: bought)])
        #expect(try await orders(state.orderID(of: refunded)) == [state.id(of: refunded)])
        #expect(try await orders(state.orderID(of: shared)).isEmpty)
        #expect(try await orders(state.orderID(of: bought), bundleID: "com.example.other").isEmpty)
        let id = state.orderID(of: bought)
        for other in ["nonsense", id.lowercased(), "M+" + id.dropFirst(2), "M-00000001", "MZZZZZZZZZ", id + "0"] {
            #expect(try await orders(other).isEmpty, "\(other)")
        }
    }
}

@Test func `an app transaction from the local App Store's Server API isn't bound to a device`() async throws {
    let state = try busy()
    try await withStoreClient(state) { client async throws in
        let answer = try await client.get(
            "/inApps/v1/transactions/appTransactions/\(state.id(of: state.transactions[0]))")
        let jws = Array(try #require(answer.body.text("signedAppTransactionInfo")).utf8)
        let payload = try Shop.verifier.verifyAppTransaction(jws, from: .appStoreServer, now: nil).payload
        #expect(payload.originalApplicationVersion == "120")
        #expect(throws: Rejection.self) { try Shop.verifier.verifyAppTransaction(jws, now: nil) }
    }
}

@Test func `the local App Store's histories and statuses list an account's purchases of one app only`() async throws {
    var state = try busy()
    state.add(
        AppStoreApp(
            bundleID: "com.example.other", appAppleID: 1,
            releases: [
                AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2014-01-10"))
            ]))
    try state.acquire("Ada", app: "com.example.other")
    let other = state.id(of: try #require(state.acquisitions.last))
    try await withStoreClient(state) { [state] client async throws in
        let own = try await client.get("/inApps/v1/subscriptions/\(state.id(of: state.transactions[0]))")
        #expect(own.status == 200 && !own.body.list("data").isEmpty)
        for path in ["v1/subscriptions", "v2/history", "v1/history", "v2/refund/lookup"] {
            let answer = try await client.get("/inApps/\(path)/\(other)", bundleID: "com.example.other")
            #expect(answer.status == 200, "\(path)")
            #expect(answer.body.list("data").isEmpty && answer.body.list("signedTransactions").isEmpty, "\(path)")
        }
    }
}

@Test func `the transaction history filters by each type of product, by ownership, and by several products`()
    async throws
{
    var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
    try state.addCustomer("Byron", family: "Lovelace")
    try state.addCustomer("Cleo", family: "Lovelace")
    for name in ["Byron", "Cleo"] { try state.acquire(name) }
    for product in [Shop.coins, Shop.everything, Shop.season, Shop.monthly] { try state.buy(product, "Byron") }
    try state.buy(Shop.everything, "Cleo")
    try state.share("Cleo", Shop.everything)
    try state.perform(AppStoreOperation(.finish, [.transaction: state.id(of: state.transactions[3])]))
    try await withStoreClient(state) { [state] client async throws in
        let ids = state.transactions.map { state.id(of: $0) }
        func found(_ query: String, version: String = "v2") async throws -> [Int] {
            try await client.pages("/inApps/\(version)/history/\(ids[0])", query: query).pages
                .flatMap { $0 }.map { ids.firstIndex(of: $0) ?? -1 }
        }
        // Cleo's share of her purchase is Byron's transaction 5. The finished subscription is last.
        #expect(state.transactions.map(\.isFamilyShared) == [false, false, false, false, false, true])
        #expect(try await found("") == [0, 1, 2, 5, 3])
        for (type, expected) in [
            ("CONSUMABLE", [0]), ("NON_CONSUMABLE", [1, 5]), ("NON_RENEWABLE", [2]), ("AUTO_RENEWABLE", [3]),
        ] {
            #expect(try await found("productType=\(type)") == expected, "\(type)")
        }
        #expect(try await found("inAppOwnershipType=FAMILY_SHARED") == [5])
        #expect(try await found("inAppOwnershipType=PURCHASED") == [0, 1, 2, 3])
        #expect(try await found("productId=\(Shop.coins)&productId=\(Shop.season)") == [0, 2])
        // Of a repeated parameter with one value, the last counts.
        #expect(try await found("sort=UP&sort=DESCENDING") == [3, 5, 2, 1, 0])
        #expect(try await found("revision=0_0") == [0, 1, 2, 5, 3])
        #expect(try await found("startDate=0&endDate=8640000000000000") == [0, 1, 2, 5, 3])
        // Version 1 leaves out only consumables that are finished.
        #expect(try await found("", version: "v1") == [0, 1, 2, 5, 3])
        #expect(try await found("excludeRevoked=false", version: "v1") == [0, 1, 2, 5, 3])
        let answer = try await client.get("/inApps/v2/history/\(ids[0])").body
        #expect(answer.text("bundleId") == Shop.bundleID && answer.text("environment") == "Production")
        #expect(answer.integer("appAppleId") == 828_838_134)
    }
}

@Test func `the refund history is in the order of the refunds`() async throws {
    var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
    for product in [Shop.coins, Shop.everything, Shop.season] { try state.buy(product, "Ada") }
    for product in [Shop.season, Shop.coins] { try state.refund("Ada", product) }
    try await withStoreClient(state) { [state] client async throws in
        let ids = state.transactions.map { state.id(of: $0) }
        #expect(try await client.pages("/inApps/v2/refund/lookup/\(ids[1])").pages == [[ids[2], ids[0]]])
    }
}

@Test func `the subscription statuses list groups by the customer's first subscription, with the current periods`()
    async throws
{
    let news = "com.example.calculator.news"
    var app = Shop.app()
    app.products.insert(AppStoreProduct(id: news, type: .autoRenewable, price: 990, group: "11111111"), at: 0)
    var state = AppStoreState(seed: "tests", startingAt: Shop.date("2026-01-10T12:00:00Z"), apps: [app])
    for (name, family) in [("Ada", nil), ("Byron", "Lovelace"), ("Cleo", "Lovelace")] as [(String, String?)] {
        try state.addCustomer(name, family: family)
        try state.acquire(name)
    }
    try state.buy(Shop.monthly, "Byron")
    for product in [Shop.monthly, news] { try state.buy(product, "Ada") }
    try state.buy(Shop.monthly, "Cleo")
    try state.share("Cleo", Shop.monthly)
    state.advance(to: Shop.date("2026-01-20"))
    try await withStoreClient(state) { [state] client async throws in
        func data(_ index: Int) async throws -> [String] {
            let id = state.id(of: state.transactions[index])
            var lines: [String] = []
            for group in try await client.get("/inApps/v1/subscriptions/\(id)").body.objects("data") {
                for item in group.objects("lastTransactions") {
                    let jws = Array(try #require(item.text("signedTransactionInfo")).utf8)
                    let payload = try Shop.verifier.verifyTransaction(jws, now: nil).payload
                    let (name, product) = (group.text("subscriptionGroupIdentifier"), payload.productID)
                    lines.append("\(name ?? "") \(product ?? "") \(payload.price ?? -1)")
                }
            }
            return lines
        }
        #expect(try await data(1) == ["\(Shop.group) \(Shop.monthly) 1990", "11111111 \(news) 990"])
        // Byron's own subscription, and what Cleo shares, are in one group.
        #expect(try await data(0) == ["\(Shop.group) \(Shop.monthly) 1990", "\(Shop.group) \(Shop.monthly) 0"])
    }
}
