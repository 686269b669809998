import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import LocalAppStore

/// How operations are read from JSON, and what their parameters change.
@Suite struct `reading and performing operations` {
    private let token = "0E3A2A3C-0000-4000-8000-000000000001"

    private func operation(
        _ kind: AppStoreOperation.Kind, _ more: [AppStoreOperation.Parameter: String] = [:],
        product: String = Shop.coins
    ) -> AppStoreOperation {
        AppStoreOperation(kind, [.customer: "Ada", .product: product].merging(more) { $1 })
    }

    @Test func `an operation's JSON may have texts, numbers and flags, and null is a missing value`() throws {
        let bought = try AppStoreOperation([
            "operation": .string("buy"), "customer": .string("Ada"), "product": .string(Shop.coins),
            "quantity": .number("3"), "offer": .null,
        ])
        #expect(bought == AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins, .quantity: "3"]))
        for flag in [true, false] {
            let raised = try AppStoreOperation([
                "operation": .string("raisePrice"), "product": .string(Shop.monthly), "price": .string("2.99"),
                "needsConsent": .boolean(flag),
            ])
            #expect(raised[.needsConsent] == "\(flag)")
        }
        let text = #"{"operation":"buy","customer":"Ada","product":"\#(Shop.coins)","quantity":"3"}"#
        #expect(String(decoding: JSONValue.object(bought.json).bytes, as: UTF8.self) == text)
    }

    @Test(
        arguments: [
            (
                #"{"customer":"Ada"}"#,
                "`operation` is missing; write an operation, such as `\"operation\": \"acquire\"`, and its parameters"
            ),
            (#"{"operation":"buy","customer":"Ada"}"#, "`buy` needs `product`"),
            (#"{"operation":"buy","product":"x"}"#, "`buy` needs `customer`"),
            (
                #"{"operation":"buy","platform":"iOS"}"#,
                "`buy` has no parameter `platform`; it has `customer`, `product`, `quantity`, `offer`, `appAccountToken`"
            ),
            (#"{"operation":"finish","id":"1"}"#, "`finish` has no parameter `id`; it has `transaction`"),
            (#"{"operation":"buy","quantity":[1]}"#, "`quantity` of `buy` must be a single value"),
            (#"{"operation":"buy","quantity":{}}"#, "`quantity` of `buy` must be a single value"),
        ])
    func `an operation's JSON that can't be read says what to write`(text: String, mistake: String) throws {
        guard case .object(let object) = try JSONValue(parsing: Array(text.utf8)) else { throw NothingThere() }
        #expect(throws: OperationMistake(mistake)) { try AppStoreOperation(object) }
    }

    @Test func `a parameter that is set twice is refused by its name`() throws {
        var operation = operation(.buy)
        #expect(throws: OperationMistake("`product` is given twice; keep one")) {
            try operation.set("product", to: Shop.everything)
        }
    }

    @Test func `a list's customer is for operations that need a customer and name none`() throws {
        let elements: [JSONValue] = [
            .object(["operation": .string("buy"), "product": .string(Shop.coins)]),
            .object(["operation": .string("buy"), "product": .string(Shop.coins), "customer": .string("Byron")]),
            .object(["operation": .string("advance"), "by": .string("1d")]),
        ]
        let operations = try AppStoreOperation.list(elements, customer: .string("Ada"))
        #expect(operations.map { $0[.customer] } == ["Ada", "Byron", nil])
        #expect(throws: OperationMistake("`buy` needs `customer`")) { try AppStoreOperation.list(elements) }
    }

    @Test func `an acquisition has the platform, release, price, way and dates of its operation, or their defaults`()
        throws
    {
        var state = Shop.state()
        for name in ["Ada", "Boris", "Cleo"] { try state.addCustomer(name) }
        let mac: [AppStoreOperation.Parameter: String] = [
            .platform: "macOS", .release: "1.9", .price: "7.5", .preordered: "2014-03-01",
            .licenseEnds: "2015-03-01T06:00:00Z",
        ]
        try state.perform(AppStoreOperation(.acquire, [.customer: "Ada"]))
        try state.perform(AppStoreOperation(.acquire, mac.merging([.customer: "Boris"]) { $1 }))
        try state.perform(
            AppStoreOperation(.acquire, mac.merging([.customer: "Cleo", .way: "volumePurchase"]) { $1 }))
        #expect(state.acquisitions.map(\.platform) == [.iOS, .macOS, .macOS])
        #expect(state.acquisitions.map(\.release.build) == ["37", "900", "900"])
        #expect(state.acquisitions.map(\.price) == [4990, 7500, 7500])
        #expect(state.acquisitions.map(\.way) == [.purchase, .purchase, .volumePurchase])
        let preordered = Shop.date("2014-03-01")
        #expect(state.acquisitions.map(\.preorderDate) == [nil, preordered, preordered])
        // Only a volume license ends.
        #expect(state.acquisitions.map(\.licenseEnds) == [nil, nil, Shop.date("2015-03-01T06:00:00Z")])
    }

    @Test func `an update is for the installed platform, or changes to the named one`() throws {
        var state = try Shop.state(of: "Ada")
        try state.perform(AppStoreOperation(.update, [.customer: "Ada", .platform: "macOS"]))
        let updated = state.acquisitions[0]
        #expect(updated.installedPlatform == .macOS && updated.installedRelease.build == "900")
        #expect(updated.platform == .iOS && updated.release.build == "37")
        let receipt = try Shop.signer.receipt(
            of: state.acquisitions[0], in: state, device: state.accounts[0].devices[0])
        let payload = try Shop.verifier.verifyReceipt(receipt, now: state.now).payload
        #expect(payload.appVersion == "1.9" && payload.originalAppVersion == "37")
        state.advance(to: Shop.date("2015-07-01"))
        try state.perform(AppStoreOperation(.release, [.platform: "macOS", .build: "950", .version: "2.1"]))
        try state.perform(AppStoreOperation(.update, [.customer: "Ada"]))
        #expect(state.acquisitions[0].installedRelease.build == "950")
        #expect(throws: AppStoreStateError.self) {
            var early = Shop.state(at: "2014-01-15")
            try early.addCustomer("Ada")
            try early.acquire("Ada")
            try early.perform(AppStoreOperation(.update, [.customer: "Ada", .platform: "macOS"]))
        }
    }

    @Test func `a purchase has the quantity, offer and account token of its operation`() throws {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        try state.perform(operation(.buy))
        try state.perform(operation(.buy, [.quantity: "3", .appAccountToken: token]))
        #expect(state.transactions.map(\.quantity) == [1, 3] && state.transactions.map(\.price) == [990, 2970])
        #expect(state.transactions.map(\.appAccountToken?.uuidString) == [nil, token])
        let other = "0E3A2A3C-0000-4000-8000-000000000002"
        try state.perform(operation(.buy, [.appAccountToken: other], product: Shop.monthly))
        try state.perform(operation(.cancel, product: Shop.monthly))
        state.advance(to: Shop.date("2026-02-01"))
        try state.perform(operation(.buy, [.offer: "thanks", .appAccountToken: token], product: Shop.monthly))
        #expect(state.transactions.last?.offer?.id == "thanks")
        #expect(state.transactions.last?.appAccountToken?.uuidString == token)
        #expect(state.transactions[2].appAccountToken?.uuidString == other)
    }

    @Test func `a disputed payment is selected by its age, and has the customer's reason`() throws {
        var state = try Shop.state(of: "Ada")
        for _ in 0..<3 { try state.perform(operation(.buy)) }
        func disputed() throws -> String {
            let reason = try state.lastNotification().notification.payload.data?.consumptionRequestReason?.known
            return "\(state.notifications.last?.transaction?.index ?? -1) \(reason?.rawValue ?? "no reason")"
        }
        try state.perform(operation(.requestRefund))
        #expect(try disputed() == "2 UNINTENDED_PURCHASE")
        try state.perform(operation(.requestRefund, [.reason: "legal", .periodsAgo: "1"]))
        #expect(try disputed() == "1 LEGAL")
        try state.perform(operation(.declineRefund, [.periodsAgo: "2"]))
        #expect(try disputed() == "0 no reason")
        for age in ["0", "2"] { try state.perform(operation(.refund, [.periodsAgo: age])) }
        try state.perform(operation(.reverseRefund, [.periodsAgo: "2"]))
        #expect(state.transactions.map { $0.revocation == nil } == [true, true, false])
        let mistake =
            "`reason` must be one of unintendedPurchase, fulfillmentIssue, unsatisfiedWithPurchase, legal, other; found `x`"
        #expect(throws: OperationMistake(mistake)) { try state.perform(operation(.requestRefund, [.reason: "x"])) }
    }

    @Test func `an extension of all renewal dates is for the listed storefronts`() throws {
        var state = Shop.state(at: "2026-01-10T12:00:00Z")
        for (name, storefront) in [("Ada", "USA"), ("Greta", "DEU"), ("Gwen", "GBR")] {
            try state.addCustomer(name, storefront: storefront)
            try state.acquire(name)
            try state.buy(Shop.monthly, name)
        }
        let end = Shop.date("2026-01-17T12:00:00Z")
        try state.perform(
            AppStoreOperation(
                .extendAll, [.product: Shop.monthly, .days: "2", .request: "r1", .storefronts: "USA,GBR"]))
        let (later, summary) = (end.addingTimeInterval(2 * 86_400), state.massExtensions.first)
        #expect(state.transactions.map(\.expiresDate) == [later, end, later])
        #expect(summary?.requestIdentifier == "r1" && summary?.storefronts == ["USA", "GBR"])
        #expect(summary?.succeeded == 2 && summary?.failed == 0 && summary?.completedAt == state.now)
        try state.perform(AppStoreOperation(.extendAll, [.product: Shop.monthly, .days: "1", .request: "r2"]))
        #expect(state.massExtensions.map(\.succeeded) == [2, 3] && state.massExtensions[1].storefronts.isEmpty)
    }

    @Test func `an operation on a transaction changes only that transaction, and needs its ID`() throws {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        for product in [Shop.coins, Shop.monthly, Shop.everything] { try state.buy(product, "Ada") }
        let ids = state.transactions.map { state.id(of: $0) }
        func perform(_ kind: AppStoreOperation.Kind, _ more: [AppStoreOperation.Parameter: String] = [:], at id: String)
            throws
        {
            try state.perform(AppStoreOperation(kind, more.merging([.transaction: id]) { $1 }))
        }
        try perform(.finish, at: ids[0])
        try perform(.setAppAccountToken, [.appAccountToken: token], at: ids[2])
        try perform(.extend, [.days: "3"], at: ids[1])
        try perform(.answerConsumption, [.deliveryStatus: "DELIVERED", .refundPreference: "DECLINE"], at: ids[0])
        try perform(.answerConsumption, [.deliveryStatus: "UNDELIVERED_OTHER"], at: ids[2])
        #expect(state.transactions.map(\.isFinished) == [true, false, false])
        #expect(state.transactions.map(\.appAccountToken?.uuidString) == [nil, nil, token])
        #expect(state.transactions.map(\.expiresDate) == [nil, Shop.date("2026-01-20T12:00:00Z"), nil])
        let answers = [
            0: ConsumptionAnswer(date: state.now, deliveryStatus: "DELIVERED", refundPreference: "DECLINE"),
            2: ConsumptionAnswer(date: state.now, deliveryStatus: "UNDELIVERED_OTHER", refundPreference: nil),
        ]
        #expect(state.consumption == answers)
        #expect(throws: OperationMistake("`transaction` must be the ID of a transaction; found `1`")) {
            try perform(.finish, at: "1")
        }
        let advice = "`extend` needs an active subscription; name the ID of its transaction in `transaction`"
        #expect(throws: OperationMistake(advice)) { try perform(.extend, [.days: "3"], at: ids[0]) }
    }
}
