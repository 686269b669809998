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

@Test func `the local App Store serves transactions, histories and statuses over HTTP`() async throws {
    var state = try Shop.state(of: "Ada")
    try state.buy(Shop.monthly, "Ada")
    state.advance(to: Shop.date("2014-10-20"))
    let ended = state
    try await withStoreClient(state) { client async throws in
        let id = ended.id(of: ended.transactions[0])
        let info = try await client.get("/inApps/v1/transactions/\(id)")
        #expect(info.status == 200)
        let transaction = try Shop.verifier.verifyTransaction(
            Array(try #require(info.body.text("signedTransactionInfo")).utf8), now: ended.now)
        #expect(transaction.payload.transactionID == id)
        #expect(transaction.payload.offerDiscountType?.rawValue == "FREE_TRIAL")
        #expect(transaction.payload.deviceVerification == nil)

        let history = try await client.get("/inApps/v2/history/\(id)")
        #expect(history.body.list("signedTransactions").count == ended.transactions.count)
        #expect(ended.transactions.count == 3)

        let appTransactionID = ended.id(of: ended.acquisitions[0])
        let statuses = try await client.get("/inApps/v1/subscriptions/\(appTransactionID)")
        #expect(statuses.body.text("bundleId") == Shop.bundleID)
        #expect(statuses.body.integer("appAppleId") == 828_838_134)
        guard case .object(let group)? = statuses.body.list("data").first,
            case .object(let item)? = group.list("lastTransactions").first
        else {
            Issue.record("no group")
            return
        }
        #expect(item.integer("status") == 1)
        #expect(item.text("originalTransactionId") == id)
        let renewal = try Shop.verifier.verifyRenewalInfo(
            Array(try #require(item.text("signedRenewalInfo")).utf8), now: ended.now)
        #expect(renewal.payload.autoRenewStatus?.known == .on)
    }
}

@Test(arguments: [(query: "?status=1", isListed: true), ("?status=2&status=1", true), ("?status=2&status=5", false)])
func `the status query lists only subscriptions with one of the statuses`(query: String, isListed: Bool) async throws {
    var state = try Shop.state(of: "Ada")
    try state.buy(Shop.monthly, "Ada")
    let id = state.id(of: state.transactions[0])
    try await withStoreClient(state) { client async throws in
        let statuses = try await client.get("/inApps/v1/subscriptions/\(id)" + query)
        #expect(statuses.status == 200)
        #expect(statuses.body.list("data").count == (isListed ? 1 : 0))
    }
}

@Test func `in the sandbox, the subscription statuses of the App Store Server API have no appAppleId`() async throws {
    var state = try Shop.state(of: "Ada", .sandbox)
    try state.buy(Shop.monthly, "Ada")
    let id = state.id(of: state.transactions[0])
    try await withStoreClient(state) { client async throws in
        let statuses = try await client.get("/inApps/v1/subscriptions/\(id)").body
        #expect(statuses["appAppleId"] == nil)
        #expect(statuses.text("bundleId") == Shop.bundleID && statuses.text("environment") == "Sandbox")
    }
}

@Test func `a server API request with a token of another key, app or time gets 401 without a body`() async throws {
    var state = try Shop.state(of: "Ada")
    try state.buy(Shop.everything, "Ada")
    let id = state.id(of: state.transactions[0])
    try await withStoreClient(state) { client async throws in
        let path = "/inApps/v1/transactions/\(id)"
        #expect(try await client.get(path).status == 200)
        #expect(try await client.get(path, bundleID: "com.example.other").status == 401)
        let other = try ServerAPIKey(seed: "another")
        let tokens = [
            try BearerToken.make(key: other, bundleID: Shop.bundleID, now: client.now),
            try BearerToken.make(key: client.key, bundleID: Shop.bundleID, now: client.now.addingTimeInterval(-301)),
            try BearerToken.make(key: client.key, bundleID: Shop.bundleID, now: client.now, lifetime: 3601),
            try BearerToken.make(key: client.key, bundleID: Shop.bundleID, now: client.now) + "A",
            "", "a.b.c",
        ]
        for token in tokens {
            let answer = try await client.send(.get, path, token: token)
            #expect(answer.status == 401)
            #expect(answer.body.members.isEmpty)
        }
    }
}

@Test func `the local App Store accepts an API token that is valid only by its simulated clock`() async throws {
    var state = try Shop.state(of: "Ada", at: "2014-09-06T10:00:00Z")
    try state.buy(Shop.everything, "Ada")
    let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
    try await withStoreClient(state) { [state] client async throws in
        func status(of date: Date) async throws -> Int {
            let token = try BearerToken.make(key: client.key, bundleID: Shop.bundleID, now: date)
            return try await client.send(.get, path, token: token).status
        }
        #expect(try await status(of: state.now) == 200)
        #expect(try await status(of: state.now.addingTimeInterval(-3600)) == 401)
        // The time in `Retry-After` is of the same clock.
        await client.fault.inject(.rateLimitExceeded, requests: 1)
        let token = try BearerToken.make(key: client.key, bundleID: Shop.bundleID, now: state.now)
        let response = try await client.http.execute(
            uri: path, method: .get, headers: [.authorization: "Bearer \(token)"]
        ) { $0 }
        #expect(response.headers[.retryAfter] == String(Int64(state.now.timeIntervalSince1970 + 1) * 1000))
    }
}
