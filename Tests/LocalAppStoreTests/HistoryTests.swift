import CalculatorSeller
import Foundation
import HTTPTypes
import HummingbirdTesting
import LocalAppStore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

/// Ada with 45 purchases of coins and a monthly plan.
private func busy(_ environment: AppStoreEnvironment = .production) throws -> World {
    var world = try Shop.world(of: "Ada", environment, at: "2026-01-10T12:00:00Z", url: "https://example.com/hook")
    try world.buy(Shop.monthly, "Ada")
    for _ in 0..<45 { try world.buy(Shop.coins, "Ada") }
    world.advance(to: Shop.date("2026-01-20"))
    return world
}

extension Counter {
    /// All pages, each asked for with the revision of the one before.
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

@Test func `a history comes in pages of twenty, each transaction once`() async throws {
    let world = try busy()
    try await withCounter(world) { counter async throws in
        let path = "/inApps/v2/history/\(world.id(of: world.transactions[3]))"
        let ascending = try await counter.pages(path).pages
        #expect(ascending.map(\.count) == [20, 20, 7])
        #expect(ascending.flatMap { $0 } == world.transactions.map { world.id(of: $0) })
        let descending = try await counter.pages(path, query: "sort=DESCENDING").pages
        #expect(descending.flatMap { $0 } == ascending.flatMap { $0 }.reversed())
    }
}

@Test func `asked again with the last revision, a history tells what changed since`() async throws {
    let world = try busy()
    try await withCounter(world) { counter async throws in
        let path = "/inApps/v2/history/\(world.id(of: world.transactions[0]))"
        let revision = try await counter.pages(path).revision
        #expect(try await counter.pages(path, query: "revision=\(revision)").pages == [[]])
        try await counter.store.perform(Act(.refund, [.customer: "Ada", .product: Shop.coins, .periodsAgo: "44"]))
        let changed = try await counter.get("\(path)?revision=\(revision)")
        #expect(changed.body.texts("signedTransactions").count == 1)
        #expect(changed.body.text("revision") != revision)
        let refunds = try await counter.pages("/inApps/v2/refund/lookup/\(world.id(of: world.transactions[0]))")
        #expect(refunds.pages == [[world.id(of: world.transactions[1])]])
    }
}

@Test func `a history is filtered as asked`() async throws {
    var world = try busy()
    try world.refund("Ada", Shop.coins)
    let changed = world
    try await withCounter(changed) { counter async throws in
        let path = "/inApps/v2/history/\(changed.id(of: changed.transactions[0]))"
        func count(_ query: String) async throws -> Int {
            try await counter.pages(path, query: query).pages.flatMap { $0 }.count
        }
        #expect(try await count("productType=AUTO_RENEWABLE") == 2)
        #expect(try await count("productType=AUTO_RENEWABLE&productType=CONSUMABLE") == 47)
        #expect(try await count("productId=\(Shop.coins)") == 45)
        #expect(try await count("subscriptionGroupIdentifier=plans") == 2)
        #expect(try await count("revoked=true") == 1)
        #expect(try await count("revoked=False") == 46)
        #expect(try await count("excludeRevoked=true") == 46)
        #expect(try await count("inAppOwnershipType=FAMILY_SHARED") == 0)
        #expect(try await count("startDate=1768500000000") == 1)
        #expect(try await count("endDate=1768500000000") == 46)
    }
}

@Test func `too many requests are told when to come again`() async throws {
    let world = try busy(.sandbox)
    // In the sandbox a tenth: of one request a second, 360 an hour; here a hundredth of that.
    try await withCounter(world, rateLimitShare: 0.01) { counter async throws in
        let path = "/inApps/v1/notifications/test/x"
        for _ in 0..<3 { #expect(try await counter.get(path).status == 400) }
        let response = try await counter.http.execute(
            uri: path, method: .get,
            headers: [
                .authorization:
                    "Bearer \(try BearerToken.make(key: counter.key, bundleID: Shop.bundleID, now: counter.now))"
            ]
        ) { $0 }
        #expect(response.status.code == 429)
        // In milliseconds since 1970: the next hour.
        #expect(response.headers[.retryAfter] == "1795179600000")
        #expect(try await counter.get("/inApps/v1/transactions/x").status == 400)
    }
}

@Test func `trouble is made for as many requests as wanted`() async throws {
    let world = try busy()
    try await withCounter(world) { counter async throws in
        let path = "/inApps/v1/transactions/\(world.id(of: world.transactions[0]))"
        await counter.trouble.make(.generalInternalRetryable, requests: 2)
        for _ in 0..<2 {
            let answer = try await counter.get(path)
            #expect(answer.status == 500)
            #expect(answer.body.number("errorCode") == 5_000_001)
        }
        #expect(try await counter.get(path).status == 200)
    }
}

@Test func `errors speak as Apple's do`() {
    #expect(ServerAPIError.transactionIDNotFound.message == "Transaction id not found.")
    #expect(ServerAPIError.invalidTransactionID.message == "Invalid transaction id.")
    #expect(ServerAPIError.originalTransactionIDNotFound.message == "Original transaction id not found.")
    #expect(ServerAPIError.rateLimitExceeded.message == "Rate limit exceeded.")
    #expect(ServerAPIError.notificationURLNotFound.message == "Notification url not found.")
}

@Test func `an order is looked up in production only`() async throws {
    for environment in [AppStoreEnvironment.production, .sandbox] {
        let world = try busy(environment)
        try await withCounter(world) { counter async throws in
            let answer = try await counter.get("/inApps/v1/lookup/\(world.orderID(of: world.transactions[2]))")
            #expect(answer.body.number("status") == (environment.isProduction ? 0 : 1))
            #expect(answer.body.texts("signedTransactions").count == (environment.isProduction ? 1 : 0))
        }
    }
}

@Test func `an order is of who paid, refunded or not, and of one app`() async throws {
    var world = try busy()
    try world.addCustomer("Ben", family: "Lovelace")
    try world.addCustomer("Cleo", family: "Lovelace")
    for customer in ["Ben", "Cleo"] { try world.acquire(customer) }
    try world.buy(Shop.everything, "Ben")
    let bought = try #require(world.transactions.last)
    try world.share("Ben", Shop.everything)
    let shared = try #require(world.transactions.last)
    #expect(shared.isFamilyShared)
    try world.refund("Ada", Shop.coins)
    let refunded = try #require(world.transactions.last { $0.revocation != nil })
    world.add(StoreApp(bundleID: "com.example.other", appAppleID: 1, releases: []))
    try await withCounter(world) { [world] counter async throws in
        func orders(_ id: String, bundleID: String = Shop.bundleID) async throws -> [String?] {
            let answer = try await counter.get("/inApps/v1/lookup/\(id)", bundleID: bundleID)
            let transactions = try answer.body.texts("signedTransactions").map { jws in
                try Shop.verifier.verifyTransaction(Array(jws.utf8), now: nil).payload.transactionID
            }
            // An order that nobody knows is an answer, and no error.
            #expect(answer.status == 200)
            #expect(answer.body.number("status") == (transactions.isEmpty ? 1 : 0))
            return transactions
        }
        #expect(try await orders(world.orderID(of: bought)) == [world.id(of: bought)])
        #expect(try await orders(world.orderID(of: refunded)) == [world.id(of: refunded)])
        #expect(try await orders(world.orderID(of: shared)).isEmpty)
        #expect(try await orders(world.orderID(of: bought), bundleID: "com.example.other").isEmpty)
        let id = world.orderID(of: bought)
        for other in ["nonsense", id.lowercased(), "M+" + id.dropFirst(2), "M-00000001", "MZZZZZZZZZ", id + "0"] {
            #expect(try await orders(other).isEmpty, "\(other)")
        }
    }
}

@Test func `the server's app transaction is bound to no device`() async throws {
    let world = try busy()
    try await withCounter(world) { counter async throws in
        let answer = try await counter.get(
            "/inApps/v1/transactions/appTransactions/\(world.id(of: world.transactions[0]))")
        let jws = Array(try #require(answer.body.text("signedAppTransactionInfo")).utf8)
        let payload = try Shop.verifier.verifyAppTransaction(jws, from: .appStoreServer, now: nil).payload
        #expect(payload.originalApplicationVersion == "120")
        #expect(throws: Rejection.self) { try Shop.verifier.verifyAppTransaction(jws, now: nil) }
    }
}
