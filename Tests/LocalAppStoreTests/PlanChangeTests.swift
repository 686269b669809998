import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// Ada has had the app and a monthly plan since noon on January 10, 2026. Its trial ended on January 17.
private func subscribed(offersForPro: [SubscriptionOffer] = []) throws -> AppStoreState {
    var app = Shop.app()
    for index in app.products.indices where app.products[index].id == Shop.pro {
        app.products[index].offers = offersForPro
    }
    var state = AppStoreState(seed: "tests", startingAt: Shop.date("2026-01-10T12:00:00Z"), apps: [app])
    try state.addCustomer("Ada")
    try state.acquire("Ada")
    try state.buy(Shop.monthly, "Ada")
    state.advance(to: Shop.date("2026-01-20"))
    return state
}

@Suite struct `Plans after a change` {
    @Test func `an upgrade ends the question about a higher price of the former plan`() throws {
        var state = try subscribed()
        try state.raisePrice(of: Shop.monthly, to: 2990)
        try state.changePlan("Ada", to: Shop.pro, as: .upgrade)
        #expect(try state.lastNotification().renewalInfo?.payload.priceIncreaseStatus == nil)
        #expect(try state.lastNotification().renewalInfo?.payload.renewalPrice == 4990)
        state.advance(to: Shop.date("2026-02-21"))
        #expect(
            state.notificationNames(since: 2) == [
                "PRICE_INCREASE/PENDING", "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_RENEW",
            ])
        #expect(state.transactions.map(\.price) == [0, 1990, 4990, 4990])
    }

    @Test func `a plan that ended over a higher price can be bought at that price, and then renews`() throws {
        var state = try subscribed()
        try state.raisePrice(of: Shop.monthly, to: 2990)
        state.advance(to: Shop.date("2026-02-18"))
        try state.buy(Shop.monthly, "Ada")
        state.advance(to: Shop.date("2026-03-19"))
        #expect(
            state.notificationNames(since: 2) == [
                "PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE", "SUBSCRIBED/RESUBSCRIBE", "DID_RENEW",
            ])
        #expect(state.transactions.map(\.price) == [0, 1990, 2990, 2990])
    }

    @Test func `a plan that is bought again renews as the bought product, not as an earlier downgrade`() throws {
        var state = try subscribed()
        try state.changePlan("Ada", to: Shop.yearly, as: .downgrade)
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        state.advance(to: Shop.date("2026-02-18"))
        try state.buy(Shop.monthly, "Ada")
        let bought = try state.lastNotification()
        #expect(bought.renewalInfo?.payload.autoRenewProductID == Shop.monthly)
        #expect(bought.renewalInfo?.payload.autoRenewStatus?.known == .on)
        #expect(bought.renewalInfo?.payload.renewalPrice == 1990)
        state.advance(to: Shop.date("2026-03-19"))
        #expect(state.transactions.suffix(2).map(\.price) == [1990, 1990])
        #expect(state.transactions.last?.expiresDate == Shop.date("2026-04-18"))
    }

    @Test func `an upgrade with a pay-as-you-go offer has the offer's price for its number of periods`() throws {
        var state = try subscribed(offersForPro: [
            SubscriptionOffer(
                id: "deal", type: .promotional, discount: .payAsYouGo, period: CalendarPeriod(months: 1), count: 3,
                price: 1490)
        ])
        try state.changePlan("Ada", to: Shop.pro, offer: "deal", as: .upgrade)
        #expect(try state.lastNotification().renewalInfo?.payload.renewalPrice == 1490)
        state.advance(to: Shop.date("2026-05-21"))
        #expect(
            state.notificationNames(since: 2)
                == ["OFFER_REDEEMED/UPGRADE", "DID_RENEW", "DID_RENEW", "DID_RENEW", "DID_RENEW"])
        #expect(state.transactions.suffix(5).map(\.price) == [1490, 1490, 1490, 4990, 4990])
    }

    @Test func `a renewal is charged 33 seconds early, or at the period's end if the charge works only then`() throws {
        var state = try subscribed()
        var late = state
        state.advance(to: Shop.date("2026-02-17T11:59:26Z"))
        #expect(state.transactions.count == 2)
        state.advance(to: Shop.date("2026-02-17T11:59:27Z"))
        #expect(state.transactions.count == 3)
        #expect(state.notifications.last?.date == Shop.date("2026-02-17T11:59:27Z"))

        try late.setBillingWorks(false, of: "Ada")
        late.advance(to: Shop.date("2026-02-17T11:59:59Z"))
        try late.setBillingWorks(true, of: "Ada")
        #expect(late.transactions.count == 2)
        late.advance(to: Shop.date("2026-02-17T12:00:00Z"))
        #expect(late.notificationNames(since: 2) == ["DID_RENEW"])
        #expect(late.transactions.last?.purchaseDate == Shop.date("2026-02-17T12:00:00Z"))
    }

    @Test(
        arguments: [
            (CalendarPeriod(days: 3), 120), (CalendarPeriod(days: 4), 180), (CalendarPeriod(days: 7), 180),
            (CalendarPeriod(days: 27), 180), (CalendarPeriod(days: 28), 300), (CalendarPeriod(months: 1), 300),
            (CalendarPeriod(months: 2), 600), (CalendarPeriod(months: 6), 1800), (CalendarPeriod(months: 12), 3600),
        ] as [(CalendarPeriod, TimeInterval)])
    func `the sandbox shortens each period to minutes`(period: CalendarPeriod, seconds: TimeInterval) {
        let start = Shop.date("2026-01-10T12:00:00Z")
        let state = Shop.state(.sandbox)
        #expect(state.end(of: period, from: start) == start.addingTimeInterval(seconds))
    }

    @Test func `an app that was got again with a promo code after a refund can't be refunded`() throws {
        var state = try Shop.state(of: "Ada")
        try state.refundApp("Ada")
        state.advance(to: Shop.date("2014-10-01"))
        try state.acquire("Ada", way: .promoCode)
        #expect(state.acquisitions.count == 1)
        #expect(state.acquisitions[0].refundedAt == nil)
        #expect(state.acquisitions[0].date == Shop.date("2014-09-06T10:00:00Z"))
        #expect(throws: AppStoreStateError.appNotBought(customer: "Ada", app: Shop.bundleID)) {
            try state.refundApp("Ada")
        }
    }

    @Test func `a release or a price with an earlier date than the last one doesn't replace it`() throws {
        var state = Shop.state(at: "2016-01-01")
        try state.release(
            AppStoreRelease(platform: .iOS, build: "90", version: "1.8", releasedAt: Shop.date("2015-02-01")), of: nil)
        try state.setPrice(AppPrice(from: Shop.date("2015-02-01"), price: 9990), of: nil)
        try state.addCustomer("Ada")
        try state.acquire("Ada")
        #expect(state.acquisitions[0].release.build == "120")
        #expect(state.acquisitions[0].price == 0)
    }

    @Test func `events happen by date, and events of one date in the order in which they were scheduled`() {
        var events = ScheduledEvents()
        let dates: [TimeInterval] = [5, 3, 5, 1, 3, 9, 1, 5, 3, 2, 8, 1]
        for (index, date) in dates.enumerated() {
            events.schedule(.delivery(notification: index), at: Date(timeIntervalSince1970: date))
        }
        let early = events.next(by: Date(timeIntervalSince1970: 0.999))
        #expect(early?.date == nil)
        var happened: [ScheduledEvents.Event] = []
        while let (date, event) = events.next(by: Date(timeIntervalSince1970: 8)) {
            #expect(date.timeIntervalSince1970 <= 8)
            happened.append(event)
        }
        let expected = [3, 6, 11, 9, 1, 4, 8, 0, 2, 7, 10].map { ScheduledEvents.Event.delivery(notification: $0) }
        #expect(happened == expected)
        let last = events.next(by: Date(timeIntervalSince1970: 9))
        #expect(last?.date == Date(timeIntervalSince1970: 9))
        let none = events.next(by: .distantFuture)
        #expect(none?.date == nil)
    }
}
