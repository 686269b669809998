import CalculatorSeller
import Foundation
import HTTPTypes
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

private func subscribed(_ environment: AppStoreEnvironment = .production, url: String? = nil) throws -> AppStoreState {
    var state = try Shop.state(of: "Ada", environment, at: "2026-01-10T12:00:00Z", url: url)
    try state.buy(Shop.monthly, "Ada")
    try state.buy(Shop.coins, "Ada")
    return state
}

private let extending: JSONObject = [
    "extendByDays": .number("14"), "extendReasonCode": .number("1"), "requestIdentifier": .string("r1"),
]

@Test func `a subscription's renewal date can be extended twice a year, with a notification each time`() async throws {
    let state = try subscribed(url: "https://example.com/hook")
    try await withStoreClient(state) { client async throws in
        let id = state.id(of: state.transactions[0])
        let path = "/inApps/v1/subscriptions/extend/\(id)"
        let answer = try await client.send(.put, path, extending)
        #expect(answer.status == 200)
        #expect(answer.body["success"] == .boolean(true))
        #expect(answer.body.text("requestIdentifier") == "r1")
        #expect(answer.body.text("originalTransactionId") == id)
        #expect(
            answer.body.integer("effectiveDate") == Int(Shop.date("2026-01-31T12:00:00Z").timeIntervalSince1970) * 1000)
        #expect(await client.store.state.notificationNames().last == "RENEWAL_EXTENDED")
        // The original renewal date passes without a renewal.
        try await client.store.perform(AppStoreOperation(.advance, [.to: "2026-01-20"]))
        #expect(await client.store.state.notificationNames().last == "RENEWAL_EXTENDED")
        #expect(try await client.send(.put, path, extending).status == 200)
        #expect(await client.store.state.notificationNames().count { $0 == "RENEWAL_EXTENDED" } == 2)
        #expect(try await client.send(.put, path, extending).body.integer("errorCode") == 4_030_005)
        #expect(await client.store.state.notificationNames().count { $0 == "RENEWAL_EXTENDED" } == 2)
        try await client.store.perform(AppStoreOperation(.advance, [.to: "2026-02-15"]))
        #expect(await client.store.state.notificationNames().last == "DID_RENEW")
        // The first of the two extensions was more than 365 days ago.
        try await client.store.perform(AppStoreOperation(.advance, [.to: "2027-01-19T23:59:59Z"]))
        #expect(try await client.send(.put, path, extending).status == 200)
        #expect(try await client.send(.put, path, extending).body.integer("errorCode") == 4_030_005)
    }
}

@Test func `an impossible extension of a renewal date gets Apple's error code for its reason`() async throws {
    let state = try subscribed()
    try await withStoreClient(state) { client async throws in
        let id = state.id(of: state.transactions[0])
        func code(_ id: String, _ change: (inout JSONObject) -> Void = { _ in }) async throws -> Int? {
            var body = extending
            change(&body)
            return try await client.send(.put, "/inApps/v1/subscriptions/extend/\(id)", body).body.integer("errorCode")
        }
        #expect(try await code("x") == 4_000_008)
        #expect(try await code("410999999999999") == 4_040_005)
        #expect(try await code(state.id(of: state.transactions[1])) == 4_040_005)
        #expect(try await code(id) { $0["extendByDays"] = .number("91") } == 4_000_009)
        #expect(try await code(id) { $0["extendReasonCode"] = .number("4") } == 4_000_010)
        #expect(try await code(id) { $0["requestIdentifier"] = .string("") } == 4_000_011)
        try await client.store.perform(AppStoreOperation(.refund, [.customer: "Ada", .product: Shop.monthly]))
        #expect(try await code(id) == 4_030_004)
    }
}

@Test func `a mass extension postpones renewals of a product in one storefront, and reports how many succeeded`()
    async throws
{
    var state = try subscribed(url: "https://example.com/hook")
    try state.addCustomer("Greta", storefront: "DEU")
    try state.acquire("Greta")
    try state.buy(Shop.monthly, "Greta")
    let both = state
    try await withStoreClient(both) { client async throws in
        var body = extending
        body["productId"] = .string(Shop.monthly)
        body["storefrontCountryCodes"] = .array([.string("DEU")])
        let answer = try await client.send(.post, "/inApps/v1/subscriptions/extend/mass", body)
        #expect(answer.body.text("requestIdentifier") == "r1")
        let status = try await client.get("/inApps/v1/subscriptions/extend/mass/\(Shop.monthly)/r1")
        #expect(status.body.integer("succeededCount") == 1)
        #expect(status.body["complete"] == .boolean(true))
        let ended = await client.store.state
        #expect(
            ended.notificationNames(since: both.notifications.count) == [
                "RENEWAL_EXTENDED", "RENEWAL_EXTENSION/SUMMARY",
            ])
        let summary = try ended.lastNotification().notification.payload.summary
        #expect(summary?.succeededCount == 1)
        #expect(summary?.storefrontCountryCodes == ["DEU"])
        body["storefrontCountryCodes"] = .array([.string("XXX")])
        body["requestIdentifier"] = .string("r2")
        let mass = "/inApps/v1/subscriptions/extend/mass"
        #expect(try await client.send(.post, mass, body).body.integer("errorCode") == 4_000_028)
        body["storefrontCountryCodes"] = .array([])
        #expect(try await client.send(.post, mass, body).body.integer("errorCode") == 4_000_027)
        body["productId"] = .string(Shop.coins)
        #expect(try await client.send(.post, mass, body).body.integer("errorCode") == 4_000_023)
    }
}

@Test func `a mass extension sends a notification about each subscription that it can't extend`() throws {
    var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z", gracePeriodDays: 16)
    try state.buy(Shop.monthly, "Ada")
    state.advance(to: Shop.date("2026-01-20"))
    try state.setBillingWorks(false, of: "Ada")
    // The subscription is in its billing grace period.
    state.advance(to: Shop.date("2026-02-20"))
    let sent = state.notifications.count
    try state.extendAll(Shop.monthly, by: 10, request: "r1", in: [])
    #expect(state.notificationNames(since: sent) == ["RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY"])
    let summary = try state.lastNotification().notification.payload.summary
    #expect(summary?.failedCount == 1 && summary?.succeededCount == 0)
}

@Test func `the local App Store accepts consumption information only with the customer's consent`() async throws {
    let state = try subscribed()
    try await withStoreClient(state) { client async throws in
        let path = "/inApps/v2/transactions/consumption/\(state.id(of: state.transactions[1]))"
        var body: JSONObject = [
            "customerConsented": .boolean(true), "sampleContentProvided": .boolean(false),
            "deliveryStatus": .string("DELIVERED"), "refundPreference": .string("DECLINE"),
            "consumptionPercentage": .number("50000"),
        ]
        #expect(try await client.send(.put, path, body).status == 202)
        #expect(await client.store.state.consumption[1]?.refundPreference == "DECLINE")
        body["deliveryStatus"] = .number("0")
        #expect(try await client.send(.put, path, body).body.integer("errorCode") == 4_000_036)
        body["customerConsented"] = .boolean(false)
        #expect(try await client.send(.put, path, body).body.integer("errorCode") == 4_000_035)
        let former = "/inApps/v1/transactions/consumption/\(state.id(of: state.transactions[0]))"
        #expect(try await client.send(.put, former, body).body.integer("errorCode") == 4_000_043)
    }
}

@Test func `an app account token applies to every transaction of a subscription`() async throws {
    var state = try subscribed()
    state.advance(to: Shop.date("2026-01-20"))
    let renewed = state
    try await withStoreClient(renewed) { client async throws in
        let id = renewed.id(of: renewed.transactions[0])
        let token = "0e3a2a3c-0000-4000-8000-000000000001"
        func set(_ id: String, _ token: String) async throws -> Int? {
            let answer = try await client.send(
                .put, "/inApps/v1/transactions/\(id)/appAccountToken", ["appAccountToken": .string(token)])
            return answer.body.integer("errorCode") ?? answer.status
        }
        #expect(try await set(id, token) == 200)
        #expect(try await set(id, "me") == 4_000_183)
        #expect(try await set(renewed.id(of: renewed.transactions[2]), token) == 4_000_187)
        #expect(try await set("410999999999999", token) == 4_040_010)
        let changed = await client.store.state
        #expect(changed.transactions.map { $0.appAccountToken?.uuidString.lowercased() } == [token, nil, token])
    }
}

@Test func `a finished consumable isn't in the receipt or in version 1 of the transaction history`() async throws {
    let state = try subscribed()
    try await withStoreClient(state) { client async throws in
        let id = state.id(of: state.transactions[1])
        #expect(try await client.send(.post, "/inApps/v1/transactions/\(id)/finish").status == 200)
        #expect(try await client.get("/inApps/v1/history/\(id)").body.list("signedTransactions").count == 1)
        #expect(try await client.get("/inApps/v2/history/\(id)").body.list("signedTransactions").count == 2)
        let receipt = try #require(try await client.store.artifacts(of: "Ada", showing: .receipt).receipt)
        let purchases = try Shop.verifier.verifyReceipt(receipt, now: nil).payload.inAppPurchases
        #expect(purchases.map(\.productID) == [Shop.monthly])
    }
}

@Test func `the notification history contains notifications that weren't sent because there was no URL`() async throws {
    let state = try subscribed()
    try await withStoreClient(state) { client async throws in
        func ask(_ change: (inout JSONObject) -> Void = { _ in }) async throws -> [JSONValue] {
            var body: JSONObject = [
                "startDate": .instant(state.now.addingTimeInterval(-86400)), "endDate": .instant(state.now),
            ]
            change(&body)
            return try await client.send(.post, "/inApps/v1/notifications/history", body).body
                .list("notificationHistory")
        }
        let all = try await ask()
        #expect(all.count == state.notifications.count && !all.isEmpty)
        // Notifications of the first and of the last instant are included.
        let later = try await ask {
            $0["startDate"] = .instant(state.now)
            $0["endDate"] = .instant(state.now.addingTimeInterval(1))
        }
        #expect(later.count == all.count)
        for case .object(let item) in all {
            #expect(item.list("sendAttempts").isEmpty)
            #expect(item.text("signedPayload")?.isEmpty == false)
        }
        #expect(try await ask { $0["onlyFailures"] = .boolean(true) }.count == all.count)
    }
}

@Test func `the notification history ends with the notifications of the end date`() async throws {
    let state = try subscribed()
    try await withStoreClient(state) { client async throws in
        try await client.store.perform(AppStoreOperation(.advance, [.by: "2h"]))
        try await client.store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins]))
        let now = await client.store.state.now
        func count(until end: Date) async throws -> Int {
            let body: JSONObject = ["startDate": .instant(now.addingTimeInterval(-86400)), "endDate": .instant(end)]
            return try await client.send(.post, "/inApps/v1/notifications/history", body).body
                .list("notificationHistory").count
        }
        #expect(try await count(until: state.now) == state.notifications.count)
        #expect(try await count(until: now.addingTimeInterval(-1)) == state.notifications.count)
        #expect(try await count(until: now) == state.notifications.count + 1)
    }
}

@Test func `the notification history lists every delivery attempt, in pages`() async throws {
    let state = try subscribed(url: "https://example.com/hook")
    try await withStoreClient(state, sender: { _, _, notification in notification.index == 2 ? .timedOut : .success }) {
        client async throws in
        let coins = Array(repeating: AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins]), count: 40)
        try await client.store.perform(coins)
        try await client.store.perform(AppStoreOperation(.advance, [.by: "2h"]))
        let now = await client.store.state.now
        func ask(_ change: (inout JSONObject) -> Void = { _ in }, token: String = "") async throws -> JSONObject {
            var body: JSONObject = [
                "startDate": .instant(now.addingTimeInterval(-86400)), "endDate": .instant(now),
            ]
            change(&body)
            return try await client.send(
                .post, "/inApps/v1/notifications/history?paginationToken=\(token)", body
            ).body
        }
        let first = try await ask()
        let second = try await ask(token: try #require(first.text("paginationToken")))
        let third = try await ask(token: try #require(second.text("paginationToken")))
        #expect([first, second, third].map { $0.list("notificationHistory").count } == [20, 20, 2])
        #expect(third["hasMore"] == .boolean(false))
        #expect(third.text("paginationToken") == nil)

        let failures = try await ask { $0["onlyFailures"] = .boolean(true) }.list("notificationHistory")
        guard case .object(let failure)? = failures.first else {
            Issue.record("the history contains no failed notification")
            return
        }
        #expect(failures.count == 1)
        #expect(failure.list("sendAttempts").count == 2)
        let subscribed = try await ask { $0["notificationType"] = .string("SUBSCRIBED") }
        #expect(subscribed.list("notificationHistory").count == 1)

        #expect(try await ask { $0["startDate"] = nil }.integer("errorCode") == 4_000_015)
        #expect(try await ask { $0["endDate"] = .string("x") }.integer("errorCode") == 4_000_016)
        #expect(try await ask { $0["startDate"] = .number("1000") }.integer("errorCode") == 4_000_012)
        #expect(try await ask { $0["notificationType"] = .string("X") }.integer("errorCode") == 4_000_018)
        #expect(try await ask(token: "x").integer("errorCode") == 4_000_014)
        let both = try await ask {
            $0["notificationType"] = .string("SUBSCRIBED")
            $0["transactionId"] = .string(state.id(of: state.transactions[0]))
        }
        #expect(both.integer("errorCode") == 4_000_019)
    }
}

@Test func `a test notification is sent, and its status can be read`() async throws {
    try await withStoreClient(try subscribed(url: "https://example.com/hook")) { client async throws in
        let token = try #require(
            try await client.send(.post, "/inApps/v1/notifications/test").body.text("testNotificationToken"))
        let status = try await client.get("/inApps/v1/notifications/test/\(token)").body
        let jws = Array(try #require(status.text("signedPayload")).utf8)
        let notification = try Shop.verifier.verifyNotification(jws, now: nil).notification.payload
        #expect(notification.notificationType?.known == .test)
        #expect(notification.data?.signedTransactionInfo == nil)
        #expect(status.list("sendAttempts").count == 1)
    }
    try await withStoreClient(try subscribed()) { client async throws in
        let answer = try await client.send(.post, "/inApps/v1/notifications/test")
        #expect(answer.body.integer("errorCode") == 4_040_007)
    }
}
