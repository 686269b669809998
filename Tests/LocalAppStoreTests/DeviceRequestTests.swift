import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import LocalAppStore

/// What a device's requests change in the store, and why the store refuses them.
@Suite struct `requests of a device` {
    private static let device = "00000000-0000-4000-8000-000000000001"

    private func interface(_ state: AppStoreState) -> DeviceInterface {
        DeviceInterface(store: LocalAppStore(state, signer: Shop.signer) { _, _, _ in .success })
    }

    /// Buys a product, and returns the ID and the ownership in the transaction of the response.
    private func buy(
        _ product: String, offer: String? = nil, as customer: String = "Ada", _ interface: DeviceInterface
    ) async throws -> String {
        var body: JSONObject = [
            "device": .string(Self.device), "customer": .string(customer), "product": .string(product),
        ]
        body["offer"] = offer.map(JSONValue.string)
        let jws = try #require(try await interface.answer(.purchase, body).text("transaction"))
        let payload = try UnverifiedJWS(Array(jws.utf8)).payload
        return "\(payload.text("transactionId") ?? "") \(payload.text("inAppOwnershipType") ?? "")"
    }

    @Test func `a transaction is finished once, and an unknown one changes nothing`() async throws {
        var state = try Shop.state(of: "Ada")
        try state.buy(Shop.coins, "Ada")
        let interface = interface(state)
        let before = await interface.store.changeCount
        for id in [state.id(of: state.transactions[0]), state.id(of: state.transactions[0]), "410999999999999"] {
            let answer = try await interface.answer(.finish, ["transaction": .string(id)])
            #expect(answer.members.isEmpty)
            #expect(await interface.store.changeCount == before + 1)
        }
        #expect(await interface.store.state.transactions[0].isFinished)
    }

    @Test func `a request for changes is answered at once if there are any`() async throws {
        let interface = interface(try Shop.state(of: "Ada"))
        for number in 1...2 {
            try await interface.store.perform(AppStoreOperation(.buy, [.customer: "Ada", .product: Shop.coins]))
            for last in [-1, number - 1] {
                let answer = try await interface.answer(.changes, ["after": .integer(Int64(last))])
                #expect(answer.integer("change") == number)
            }
        }
        // The store has all changes even if the device names none.
        #expect(try await interface.answer(.changes, [:]).integer("change") == 2)
    }

    @Test func `a running plan that is bought again isn't charged again, and cancels a downgrade`() async throws {
        let interface = interface(try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z"))
        let first = try await buy(Shop.pro, interface)
        #expect(try await buy(Shop.pro, interface) == first)
        #expect(await interface.store.state.notificationNames() == ["SUBSCRIBED/INITIAL_BUY"])
        #expect(try await buy(Shop.monthly, interface) == first)
        #expect(try await buy(Shop.pro, interface) == first)
        let state = await interface.store.state
        #expect(
            state.notificationNames(since: 1) == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF"])
        #expect(state.transactions.count == 1)
        #expect(state.products[state.subscriptions[0].renewsAs].id == Shop.pro)
    }

    @Test func `a running plan that is bought with an offer has it from the next renewal on`() async throws {
        let interface = interface(try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z"))
        let first = try await buy(Shop.monthly, interface)
        #expect(try await buy(Shop.monthly, offer: "thanks", interface) == first)
        let state = await interface.store.state
        #expect(state.notificationNames(since: 1) == ["OFFER_REDEEMED"])
        #expect(state.subscriptions[0].nextOffer?.id == "thanks" && state.subscriptions[0].renewalPrice == 2990)
    }

    @Test func `a product that the family shares, or that was refunded, can be bought`() async throws {
        var state = Shop.state()
        for name in ["Ada", "Byron"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name)
        }
        try state.buy(Shop.everything, "Ada")
        try state.share("Ada", Shop.everything)
        let interface = interface(state)
        let own = try await buy(Shop.everything, as: "Byron", interface)
        #expect(own == "\(state.ids.transaction(2)) PURCHASED")
        #expect(try await buy(Shop.everything, as: "Byron", interface) == own)
        try await interface.store.perform(AppStoreOperation(.refund, [.customer: "Byron", .product: Shop.everything]))
        #expect(try await buy(Shop.everything, as: "Byron", interface) == "\(state.ids.transaction(3)) PURCHASED")
    }

    @Test func `each reason against a request has its code`() {
        let refusals: [(DeviceRefusal.Code, [AppStoreStateError])] = [
            (.badRequest, [.noApp("a"), .whichApp, .noCustomer("a"), .noStorefront("a")]),
            (
                .unknown,
                [
                    .noProduct("a"), .noRelease(app: "a", platform: .iOS, named: "1"),
                    .notReleased(app: "a", platform: .iOS, Shop.date("2014-01-10")), .hasNoApp(customer: "a", app: "b"),
                ]
            ),
            (.notForSale, [.notForSale(product: "a")]), (.notEligible, [.notEligible(customer: "a", offer: "b")]),
            (.noOffer, [.noOffer(product: "a", offer: "b")]), (.notPayable, [.billingFails(customer: "a")]),
            (
                .impossible,
                [
                    .customerExists("a"), .hasApp(customer: "a", app: "b"), .neverBought(customer: "a", product: "b"),
                    .hasSubscription(customer: "a", product: "b"), .noSubscription(customer: "a", product: "b"),
                    .noFamily(customer: "a"), .wrongState(customer: "a", product: "b", must: "c"),
                    .appNotBought(customer: "a", app: "b"),
                ]
            ),
        ]
        for (code, errors) in refusals {
            for error in errors {
                let refusal = DeviceRefusal(error)
                #expect(refusal.code == code && refusal.description == error.description, "\(error)")
            }
        }
        #expect(DeviceRefusal(OperationMistake("it is wrong")).code == .badRequest)
        #expect(DeviceRefusal(JournalError("it is full")).code == .broken)
        let other = DeviceRefusal(NothingThere())
        #expect(other.code == .broken && other.description == "the response can't be signed: NothingThere()")
        #expect(DeviceRefusal(DeviceRefusal(.noOffer, "none")).code == .noOffer)
    }
}
