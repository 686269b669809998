import CalculatorSeller
import Foundation
import HTTPTypes
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

/// The limits of values in requests to the App Store Server API, from both sides of each limit.
@Suite struct `limits of the App Store Server API` {
    private static let history = "/inApps/v1/notifications/history"

    /// Ada has a monthly plan and coins.
    private func subscribed(_ environment: AppStoreEnvironment = .production) throws -> AppStoreState {
        var state = try Shop.state(of: "Ada", environment, at: "2026-01-10T12:00:00Z", url: "https://example.com/hook")
        try state.buy(Shop.monthly, "Ada")
        try state.buy(Shop.coins, "Ada")
        return state
    }

    @Test func `each number of consumption information is accepted up to its maximum, and refused above it`()
        async throws
    {
        let state = try subscribed()
        let maximums: [(name: String, maximum: Int, code: Int)] = [
            ("accountTenure", 7, 4_000_032), ("consumptionStatus", 3, 4_000_034), ("deliveryStatus", 5, 4_000_036),
            ("lifetimeDollarsPurchased", 7, 4_000_037), ("lifetimeDollarsRefunded", 7, 4_000_038),
            ("platform", 2, 4_000_039), ("playTime", 7, 4_000_040), ("userStatus", 4, 4_000_042),
        ]
        try await withStoreClient(state) { client async throws in
            let path = "transactions/consumption/\(state.id(of: state.transactions[1]))"
            var body: JSONObject = ["customerConsented": .boolean(true), "sampleContentProvided": .boolean(false)]
            for field in maximums { body[field.name] = .integer(Int64(field.maximum)) }
            #expect(try await client.send(.put, "/inApps/v1/\(path)", body).status == 202)
            for field in maximums {
                for number in [-1, field.maximum + 1] {
                    var wrong = body
                    wrong[field.name] = .integer(Int64(number))
                    let answer = try await client.send(.put, "/inApps/v1/\(path)", wrong)
                    #expect(answer.body.integer("errorCode") == field.code, "\(field.name) \(number)")
                }
            }
            body["deliveryStatus"] = .string("UNDELIVERED_OTHER")
            for (percentage, status) in [(-1, 400), (0, 202), (100_000, 202), (100_001, 400)] {
                body["consumptionPercentage"] = .integer(Int64(percentage))
                #expect(try await client.send(.put, "/inApps/v2/\(path)", body).status == status, "\(percentage)")
            }
            #expect(await client.store.state.consumption[1]?.deliveryStatus == "UNDELIVERED_OTHER")
        }
    }

    @Test func `a renewal date is extended by 1 to 90 days, and a request identifier has 1 to 128 bytes`() async throws
    {
        let state = try subscribed()
        let path = "/inApps/v1/subscriptions/extend/\(state.id(of: state.transactions[0]))"
        let longest = String(repeating: "r", count: 128)
        for (days, reason, identifier, code) in [
            (1, 0, "r", nil), (90, 3, longest, nil), (0, 0, "r", 4_000_009), (91, 0, "r", 4_000_009),
            (1, -1, "r", 4_000_010), (1, 4, "r", 4_000_010), (1, 0, "", 4_000_011), (1, 0, longest + "r", 4_000_011),
        ] as [(Int64, Int64, String, Int?)] {
            try await withStoreClient(state) { client async throws in
                let answer = try await client.send(
                    .put, path,
                    [
                        "extendByDays": .integer(days), "extendReasonCode": .integer(reason),
                        "requestIdentifier": .string(identifier),
                    ])
                #expect(answer.body.integer("errorCode") == code, "\(days) days")
                let end = await client.store.state.transactions[0].expiresDate
                let expected = state.transactions[0].expiresDate?.addingTimeInterval(
                    code == nil ? Double(days) * 86_400 : 0)
                #expect(end == expected, "\(days) days")
            }
        }
    }

    @Test func `a request identifier is for one mass extension, and its status is only for the extension's product`()
        async throws
    {
        var state = try subscribed()
        for (name, product) in [("Ben", Shop.monthly), ("Cleo", Shop.yearly), ("Dora", Shop.monthly)] {
            try state.addCustomer(name)
            try state.acquire(name)
            try state.buy(product, name)
        }
        // Dora's plan ends before the extension.
        try state.setAutoRenew(false, "Dora", Shop.monthly)
        state.advance(to: Shop.date("2026-01-18"))
        try await withStoreClient(state) { [state] client async throws in
            let path = "/inApps/v1/subscriptions/extend/mass"
            let body: JSONObject = [
                "extendByDays": .integer(14), "extendReasonCode": .integer(1), "requestIdentifier": .string("r1"),
                "productId": .string(Shop.monthly),
            ]
            #expect(try await client.send(.post, path, body).status == 200)
            let status = try await client.get("\(path)/\(Shop.monthly)/r1").body
            #expect(status.integer("succeededCount") == 2 && status.integer("failedCount") == 0)
            #expect(status.integer("completeDate") == Int(state.now.timeIntervalSince1970) * 1000)
            for other in ["\(Shop.yearly)/r1", "\(Shop.monthly)/r2"] {
                #expect(try await client.get("\(path)/\(other)").body.integer("errorCode") == 4_040_009, "\(other)")
            }
            #expect(try await client.send(.post, path, body).body.integer("errorCode") == 4_000_011)
            let ended = await client.store.state
            for (customer, days) in [("Ada", 14), ("Ben", 14), ("Cleo", 0), ("Dora", 0)] {
                func end(_ state: AppStoreState) throws -> Date? {
                    let account = state.accounts[try state.accountIndex(customer)]
                    let subscription = state.subscriptions[try #require(account.subscriptions.first)]
                    return state.transactions[subscription.currentTransaction].expiresDate
                }
                #expect(try end(ended) == end(state)?.addingTimeInterval(Double(days) * 86_400), "\(customer)")
            }
        }
    }

    @Test func `the subscription statuses contain only subscriptions with one of the requested statuses`() async throws
    {
        let state = try subscribed()
        try await withStoreClient(state) { client async throws in
            let path = "/inApps/v1/subscriptions/\(state.id(of: state.transactions[0]))"
            func count(_ query: String) async throws -> Int {
                let answer = try await client.get("\(path)?\(query)")
                #expect(answer.status == 200)
                return answer.body.list("data").count
            }
            // 1 is active, and 2 expired.
            for (query, expected) in [("status=1", 1), ("status=2", 0), ("status=2&status=1", 1), ("status=5", 0)] {
                #expect(try await count(query) == expected, "\(query)")
            }
            try await client.store.perform(AppStoreOperation(.refund, [.customer: "Ada", .product: Shop.monthly]))
            for (query, expected) in [("status=1", 0), ("status=5", 1), ("status=1&status=5", 1)] {
                #expect(try await count(query) == expected, "\(query) after a refund")
            }
            for wrong in ["status=0", "status=6", "status=1&status=x"] {
                #expect(try await client.get("\(path)?\(wrong)").body.integer("errorCode") == 4_000_031, "\(wrong)")
            }
        }
    }

    @Test(arguments: [(AppStoreEnvironment.production, 180), (.sandbox, 30)])
    func `the notification history goes back 180 days in production, and 30 days in the sandbox`(
        environment: AppStoreEnvironment, days: Int
    ) async throws {
        var state = try subscribed(environment)
        let first = try #require(state.notifications.first?.date)
        state.advance(to: first.addingTimeInterval(Double(days) * 86_400))
        try await withStoreClient(state) { [state] client async throws in
            func ask(from start: Date) async throws -> JSONObject {
                let body: JSONObject = ["startDate": .instant(start), "endDate": .instant(state.now)]
                return try await client.send(.post, Self.history, body).body
            }
            #expect(try await ask(from: first).list("notificationHistory").count > 1)
            #expect(try await ask(from: first.addingTimeInterval(-0.001)).integer("errorCode") == 4_000_012)
        }
    }

    @Test func `the notification history can be of one customer, or of one type with a subtype, and is of one app`()
        async throws
    {
        var state = try subscribed()
        try state.addCustomer("Ben")
        try state.acquire("Ben")
        state.add(AppStoreApp(bundleID: "com.example.other", appAppleID: 1, releases: []))
        try state.buy(Shop.everything, "Ben")
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        try state.setAutoRenew(true, "Ada", Shop.monthly)
        state.setClock(to: Shop.date("2026-01-11"))
        try await withStoreClient(state) { [state] client async throws in
            func count(_ more: JSONObject, bundleID: String = Shop.bundleID) async throws -> Int {
                var body: JSONObject = [
                    "startDate": .instant(state.now.addingTimeInterval(-86_400)), "endDate": .instant(state.now),
                ]
                for member in more.members { body[member.name] = member.value }
                let answer = try await client.send(.post, Self.history, body, bundleID: bundleID)
                #expect(answer.status == 200, "\(answer.body)")
                return answer.body.list("notificationHistory").count
            }
            #expect(try await count([:]) == 5)
            #expect(try await count([:], bundleID: "com.example.other") == 0)
            let (ada, ben) = (state.id(of: state.transactions[0]), state.id(of: state.transactions[2]))
            #expect(try await count(["transactionId": .string(ada)]) == 4)
            #expect(try await count(["transactionId": .string(ben)]) == 1)
            let type = JSONValue.string("DID_CHANGE_RENEWAL_STATUS")
            #expect(try await count(["notificationType": type]) == 2)
            let disabled = JSONValue.string("AUTO_RENEW_DISABLED")
            #expect(try await count(["notificationType": type, "notificationSubtype": disabled]) == 1)
            #expect(try await count(["notificationType": .string("REFUND")]) == 0)
            let alone: JSONObject = [
                "startDate": .instant(state.now.addingTimeInterval(-86_400)), "endDate": .instant(state.now),
                "notificationSubtype": disabled,
            ]
            #expect(try await client.send(.post, Self.history, alone).body.integer("errorCode") == 4_000_018)
        }
    }

    @Test func `a notification that was delivered at a later attempt isn't a failure in the notification history`()
        async throws
    {
        let state = try subscribed()
        try await withStoreClient(
            state,
            sender: { _, _, notification in
                notification.attempts.isEmpty ? .noResponse : .success
            }
        ) { client async throws in
            try await client.store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins]))
            func failures() async throws -> Int {
                let now = await client.store.state.now
                let body: JSONObject = [
                    "startDate": .instant(state.now), "endDate": .instant(now.addingTimeInterval(1)),
                    "onlyFailures": .boolean(true),
                ]
                return try await client.send(.post, Self.history, body).body.list("notificationHistory").count
            }
            #expect(try await failures() > 0)
            try await client.store.perform(AppStoreOperation(.advance, [.by: "1h"]))
            #expect(try await failures() == 0)
        }
    }

    @Test func `the result of a test notification is known only to the app that requested it`() async throws {
        var state = try subscribed()
        state.add(
            AppStoreApp(
                bundleID: "com.example.other", appAppleID: 1, releases: [], notificationURL: "https://example.com/b"))
        try await withStoreClient(state) { client async throws in
            let token = try #require(
                try await client.send(.post, "/inApps/v1/notifications/test").body.text("testNotificationToken"))
            let path = "/inApps/v1/notifications/test/\(token)"
            #expect(try await client.get(path).status == 200)
            let other = try await client.get(path, bundleID: "com.example.other")
            #expect(other.status == 404 && other.body.integer("errorCode") == 4_040_008)
        }
    }

    @Test func `the refund history has all refunds in pages of twenty, but no end of sharing`()
        async throws
    {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        for name in ["Byron", "Cleo"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name)
        }
        for _ in 0..<21 {
            try state.buy(Shop.coins, "Ada")
            try state.refund("Ada", Shop.coins, percentage: 50_000)
        }
        try state.buy(Shop.everything, "Byron")
        try state.share("Byron", Shop.everything)
        try state.unshare("Byron", Shop.everything)
        let unshared = try #require(state.transactions.last)
        #expect(unshared.isFamilyShared && unshared.revocation != nil)
        try await withStoreClient(state) { [state] client async throws in
            let path = "/inApps/v2/refund/lookup/\(state.id(of: state.transactions[0]))"
            let first = try await client.get(path).body
            #expect(first.list("signedTransactions").count == 20 && first["hasMore"] == .boolean(true))
            let revision = try #require(first.text("revision"))
            let second = try await client.get("\(path)?revision=\(revision)").body
            #expect(second.list("signedTransactions").count == 1 && second["hasMore"] == .boolean(false))
            let family = try await client.get("/inApps/v2/refund/lookup/\(state.id(of: unshared))")
            #expect(family.status == 200 && family.body.list("signedTransactions").isEmpty)
        }
    }

    @Test func `an API token is valid for an hour at most, and may begin a minute ahead of the clock`() async throws {
        let state = try subscribed()
        try await withStoreClient(state) { client async throws in
            let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
            for (start, lifetime, status) in [
                (0.0, 3600, 200), (0, 3601, 401), (60, 300, 200), (61, 300, 401), (-299, 300, 200), (-300, 300, 401),
            ] {
                let token = try BearerToken.make(
                    key: client.key, bundleID: Shop.bundleID, now: client.now.addingTimeInterval(start),
                    lifetime: lifetime)
                let answer = try await client.send(.get, path, token: token)
                #expect(answer.status == status, "\(lifetime) s from \(start) s")
            }
        }
    }
}
