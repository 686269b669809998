import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// The limits of the values in operations, from both sides of each limit, and the defaults of missing values.
@Suite struct `Values of operations` {
    @Test(
        arguments: [
            (.quantity, 1, 10), (.percent, 1, 100), (.periodsAgo, 0, 1000), (.days, 1, 90),
        ] as [(AppStoreOperation.Parameter, Int, Int)])
    func `each number of an operation has a smallest and a largest value`(
        name: AppStoreOperation.Parameter, smallest: Int, largest: Int
    ) throws {
        for number in [smallest, largest] {
            try AppStoreOperation(.buy, [name: "\(number)"]).checkValues()
        }
        for text in ["\(smallest - 1)", "\(largest + 1)", "many", "", "1.5"] {
            let mistake = #expect(throws: OperationMistake.self) {
                try AppStoreOperation(.buy, [name: text]).checkValues()
            }
            #expect(
                mistake?.description
                    == "`\(name.rawValue)` must be a whole number from \(smallest) to \(largest); found `\(text)`")
        }
    }

    @Test(
        arguments: [
            (.price, "4.", "an amount such as `4.99`, or `free`"),
            (.price, ".5", "an amount such as `4.99`, or `free`"),
            (.price, "4.9999", "an amount such as `4.99`, or `free`"),
            (.price, "-1", "an amount such as `4.99`, or `free`"),
            (.price, "1234567890", "an amount such as `4.99`, or `free`"),
            (.needsConsent, "yes", "true or false"), (.appAccountToken, "1", "a UUID"),
            (.licenseEnds, "soon", "an instant such as `2026-11-20T12:00:00Z`, or a day"),
            (.preordered, "soon", "an instant such as `2026-11-20T12:00:00Z`, or a day"),
            (.to, "soon", "an instant such as `2026-11-20T12:00:00Z`, or a day"),
            (.platform, "Windows", "one of iOS, macOS, tvOS, visionOS"),
            (.way, "gift", "one of purchase, promoCode, volumePurchase"),
            (.state, "slow", "one of up, down, swallowing"),
        ] as [(AppStoreOperation.Parameter, String, String)])
    func `an operation's value that can't be read is refused with the values that can`(
        name: AppStoreOperation.Parameter, text: String, wanted: String
    ) {
        let mistake = #expect(throws: OperationMistake.self) {
            try AppStoreOperation(.acquire, [name: text]).checkValues()
        }
        #expect(mistake?.description == "`\(name.rawValue)` must be \(wanted); found `\(text)`")
    }

    @Test func `the largest price of an operation has nine digits before the period`() throws {
        #expect(try AppStoreOperation(.setPrice, [.price: "999999999.999"]).price() == 999_999_999_999)
    }

    @Test func `the clock advances by a length or to an instant, and needs exactly one of them`() throws {
        var state = Shop.state(at: "2026-01-10T12:00:00Z")
        try state.perform(AppStoreOperation(.advance, [.by: "1d"]))
        #expect(state.now == Shop.date("2026-01-11T12:00:00Z"))
        try state.perform(AppStoreOperation(.advance, [.to: "2026-01-20"]))
        #expect(state.now == Shop.date("2026-01-20"))
        for parameters in [[:], [.by: "1d", .to: "2026-02-01"]] as [[AppStoreOperation.Parameter: String]] {
            #expect(throws: OperationMistake("`advance` needs one of `by` and `to`")) {
                try state.perform(AppStoreOperation(.advance, parameters))
            }
        }
        for length in ["-1d", "1 day"] {
            let text = "`by` must be a length of time such as `31d` or `12h`; found `\(length)`"
            #expect(throws: OperationMistake(text)) { try state.perform(AppStoreOperation(.advance, [.by: length])) }
        }
        #expect(state.now == Shop.date("2026-01-20"))
    }

    @Test func `a refund is of everything, or of a percentage that is signed in thousandths`() throws {
        var state = try Shop.state(of: "Ada")
        for _ in 0..<2 { try state.buy(Shop.coins, "Ada") }
        let refund: [AppStoreOperation.Parameter: String] = [.customer: "Ada", .product: Shop.coins]
        try state.perform(AppStoreOperation(.refund, refund))
        let full = try #require(state.transactions[1].revocation)
        #expect(full.type == .refundFull && full.percentage == nil && full.reason == .other)
        let part: [AppStoreOperation.Parameter: String] = [
            .percent: "25", .periodsAgo: "1", .reason: "issueInTheApp",
        ]
        try state.perform(AppStoreOperation(.refund, refund.merging(part) { $1 }))
        let partial = try #require(state.transactions[0].revocation)
        #expect(partial.type == .refundProrated && partial.percentage == 25_000 && partial.reason == .issueInTheApp)
    }

    @Test func `by default, a higher price needs consent, and a customer has one device in the USA`() throws {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        try state.buy(Shop.monthly, "Ada")
        try state.perform(AppStoreOperation(.raisePrice, [.product: Shop.monthly, .price: "2.99"]))
        #expect(state.notificationNames().last == "PRICE_INCREASE/PENDING")
        try state.perform(AppStoreOperation(.customer, [.customer: "Byron"]))
        #expect(state.accounts[1].storefront.code == "USA" && state.accounts[1].devices.count == 1)
        try state.perform(AppStoreOperation(.customer, [.customer: "Gwen", .storefront: "DEU", .devices: "10"]))
        #expect(state.accounts[2].storefront.code == "DEU" && Set(state.accounts[2].devices).count == 10)
        #expect(throws: OperationMistake("`devices` must be a whole number from 1 to 10; found `11`")) {
            try state.perform(AppStoreOperation(.customer, [.customer: "Otto", .devices: "11"]))
        }
        #expect(state.accounts.count == 3)
    }
}
