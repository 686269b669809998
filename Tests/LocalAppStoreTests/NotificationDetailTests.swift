import CalculatorSeller
import Foundation
import HTTPTypes
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

/// Which notifications a local App Store sends in rare cases, and what they contain.
@Suite struct `details of the local App Store's notifications` {
    private func subscribed(
        _ environment: AppStoreEnvironment = .production, url: String? = nil
    ) throws -> AppStoreState {
        var state = try Shop.state(of: "Ada", environment, at: "2026-01-10T12:00:00Z", url: url)
        try state.buy(Shop.monthly, "Ada")
        return state
    }

    @Test func `only notifications about the same purchase at the same instant have ascending signing dates`() throws {
        var state = try subscribed()
        try state.buy(Shop.coins, "Ada")
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        try state.setAutoRenew(true, "Ada", Shop.monthly)
        #expect(state.notifications.map(\.rank) == [0, 0, 1, 2])
        #expect(state.notifications[3].signingDate == state.now.addingTimeInterval(0.002))
        state.advance(to: state.now.addingTimeInterval(1))
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        #expect(state.notifications[4].rank == 0 && state.notifications[4].signingDate == state.now)
    }

    @Test(arguments: [(AppStoreEnvironment.production, 828_838_134 as Int64?), (.sandbox, nil)])
    func `a test notification has the app's Apple ID only in production, and other notifications always`(
        environment: AppStoreEnvironment, appleID: Int64?
    ) throws {
        var state = try subscribed(environment)
        let bought = try state.lastNotification().notification.payload
        #expect(bought.data?.appAppleID == 828_838_134 && bought.data?.bundleID == Shop.bundleID)
        try state.perform(AppStoreOperation(.testNotification))
        let test = try state.lastNotification().notification.payload
        #expect(test.notificationType?.known == .test && test.version == "2.0")
        #expect(test.data?.appAppleID == appleID && test.data?.bundleID == Shop.bundleID)
        #expect(test.data?.environment?.known == environment && test.data?.bundleVersion == nil)
    }

    @Test func `a refund of a subscription that has ended sends one notification, and a reversal gives no access`()
        throws
    {
        var state = try subscribed()
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        state.advance(to: Shop.date("2026-02-01"))
        let sent = state.notifications.count
        try state.refund("Ada", Shop.monthly)
        #expect(state.notificationNames(since: sent) == ["REFUND"])
        #expect(state.subscriptions[0].state == .expired(.customerCancelled))
        try state.reverseRefund("Ada", Shop.monthly)
        #expect(state.notificationNames(since: sent) == ["REFUND", "REFUND_REVERSED"])
        #expect(state.subscriptions[0].state == .expired(.customerCancelled))
    }

    @Test func `a mass extension counts a shared subscription once, and extends it for the family too`() throws {
        var state = Shop.state(at: "2026-01-10T12:00:00Z")
        for name in ["Ada", "Byron"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name)
        }
        try state.buy(Shop.monthly, "Ada")
        try state.share("Ada", Shop.monthly)
        try state.extendAll(Shop.monthly, by: 2, request: "r1", in: [])
        #expect(
            state.notificationNames(since: 2) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION/SUMMARY"])
        #expect(state.massExtensions[0].succeeded == 1 && state.massExtensions[0].failed == 0)
        let end = Shop.date("2026-01-19T12:00:00Z")
        #expect(state.transactions.map(\.expiresDate) == [end, end])
        #expect(state.subscriptions.map(\.extensions.count) == [1, 0])
        let summary = try #require(try state.lastNotification().notification.payload.summary)
        #expect(summary.productID == Shop.monthly && summary.requestIdentifier == "r1")
        #expect(summary.storefrontCountryCodes == nil)
    }

    @Test func `a higher price applies in every storefront, and asks only subscribers who renew as the product`()
        throws
    {
        var state = Shop.state(at: "2026-01-10T12:00:00Z")
        for (name, storefront) in [("Ada", "USA"), ("Greta", "DEU")] {
            try state.addCustomer(name, storefront: storefront)
            try state.acquire(name)
        }
        try state.raisePrice(of: Shop.everything, to: 11_990)
        try state.buy(Shop.everything, "Greta")
        #expect(state.transactions.last?.price == 11_990)
        for name in ["Ada", "Greta"] { try state.buy(Shop.monthly, name) }
        // Greta's plan renews as another product.
        try state.changePlan("Greta", to: Shop.yearly, as: .downgrade)
        let sent = state.notifications.count
        try state.raisePrice(of: Shop.monthly, to: 2990)
        #expect(state.notificationNames(since: sent) == ["PRICE_INCREASE/PENDING"])
        #expect(state.subscriptions.map(\.renewalPrice) == [2990, 19_990])
    }

    @Test func `win-back offers are for ended subscriptions of the payer, and none are named while one runs`() throws {
        var state = Shop.state(at: "2026-01-10T12:00:00Z")
        for name in ["Ada", "Byron"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name)
        }
        try state.buy(Shop.monthly, "Ada")
        try state.share("Ada", Shop.monthly)
        func offers() throws -> [[String]?] {
            try state.subscriptions.map { subscription in
                let jws = try Shop.signer.renewalInfo(subscription, in: state)
                return try Shop.verifier.verifyRenewalInfo(Array(jws.utf8), now: nil).payload.eligibleWinBackOfferIDs
            }
        }
        #expect(try offers() == [nil, nil])
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        state.advance(to: Shop.date("2026-01-18"))
        #expect(try offers() == [["comeback"], nil])
    }

    @Test(arguments: [
        (CalendarPeriod(days: 7), "P1W"), (CalendarPeriod(days: 14), "P2W"), (CalendarPeriod(days: 3), "P3D"),
        (CalendarPeriod(months: 1), "P1M"), (CalendarPeriod(months: 1, days: 7), "P1M7D"),
    ])
    func `the length of an offer is in weeks only if it has whole weeks`(period: CalendarPeriod, text: String) throws {
        var app = Shop.app()
        let place = try #require(app.products.firstIndex { $0.id == Shop.yearly })
        app.products[place].offers = [SubscriptionOffer(type: .introductory, discount: .freeTrial, period: period)]
        var state = AppStoreState(seed: "offers", startingAt: Shop.date("2026-01-10"), apps: [app])
        try state.addCustomer("Ada")
        try state.acquire("Ada")
        let bought = try state.buy(Shop.yearly, "Ada")
        let jws = try Shop.signer.transaction(bought, in: state)
        #expect(try Shop.verifier.verifyTransaction(Array(jws.utf8), now: nil).payload.offerPeriod == text)
        #expect(bought.expiresDate == period.end(from: Shop.date("2026-01-10")))
    }

    @Test func `the notification history has the time and the result of each attempt, the oldest first`() async throws {
        let state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z", url: "https://example.com/hook")
        let sender: LocalAppStore.NotificationSender = { _, _, notification in
            notification.attempts.isEmpty ? .timedOut : notification.attempts.count == 1 ? .noResponse : .success
        }
        try await withStoreClient(state, sender: sender) { client async throws in
            try await client.store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins]))
            try await client.store.perform(AppStoreOperation(.advance, [.by: "14h"]))
            try await client.store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.season]))
            let body: JSONObject = [
                "startDate": .instant(state.now), "endDate": .instant(state.now.addingTimeInterval(86_400)),
                "notificationType": .null, "transactionId": .null, "onlyFailures": .null,
            ]
            let answer = try await client.send(.post, "/inApps/v1/notifications/history", body).body
            let items = answer.objects("notificationHistory")
            let products = try items.map { item in
                let jws = Array(try #require(item.text("signedPayload")).utf8)
                return try Shop.verifier.verifyNotification(jws, now: nil).transaction?.payload.productID
            }
            #expect(products == [Shop.coins, Shop.season])
            let start = Int(state.now.timeIntervalSince1970) * 1000
            let attempts = items.map { item in
                item.objects("sendAttempts").map {
                    "\($0.text("sendAttemptResult") ?? "") \((($0.integer("attemptDate") ?? 0) - start) / 3_600_000)"
                }
            }
            #expect(attempts == [["TIMED_OUT 0", "NO_RESPONSE 1", "SUCCESS 13"], ["TIMED_OUT 14"]])
        }
    }

    @Test func `pages of a filtered notification history have only matching notifications`() async throws {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        try state.buy(Shop.monthly, "Ada")
        for _ in 0..<11 {
            try state.setAutoRenew(false, "Ada", Shop.monthly)
            try state.buy(Shop.coins, "Ada")
            try state.setAutoRenew(true, "Ada", Shop.monthly)
        }
        try await withStoreClient(state) { [state] client async throws in
            func ask(_ token: String) async throws -> JSONObject {
                let body: JSONObject = [
                    "startDate": .instant(state.now), "endDate": .instant(state.now.addingTimeInterval(1)),
                    "notificationType": .string("DID_CHANGE_RENEWAL_STATUS"),
                ]
                let path = "/inApps/v1/notifications/history?paginationToken=\(token)"
                return try await client.send(.post, path, body).body
            }
            let first = try await ask("")
            let second = try await ask(try #require(first.text("paginationToken")))
            #expect([first, second].map { $0.list("notificationHistory").count } == [20, 2])
            #expect([first, second].map { $0.flag("hasMore") } == [true, false])
            let payloads = (first.objects("notificationHistory") + second.objects("notificationHistory"))
                .compactMap { $0.text("signedPayload") }
            let uuids = try payloads.map {
                try Shop.verifier.verifyNotification(Array($0.utf8), now: nil).notification.payload.notificationUUID
            }
            #expect(Set(uuids).count == 22)
        }
    }
}
