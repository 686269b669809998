import CalculatorSeller
import LocalAppStore
import StoreKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct FamilyTests {
    private func family() async throws -> Kiosk {
        let kiosk = try await Kiosk(owner: nil)
        for name in ["Ada", "Ben"] {
            try await kiosk.operation(.customer, name, [.family: "Lovelace"])
            try await kiosk.operation(.acquire, name)
        }
        return kiosk
    }

    @Test(arguments: [true, false])
    func `a customer's own purchase takes precedence over the family's shared purchase, whether older or newer`(
        isOlder: Bool
    ) async throws {
        let kiosk = try await family()
        for name in isOlder ? ["Ben", "Ada"] : ["Ada", "Ben"] {
            try await kiosk.advance("1d")
            try await kiosk.buy(Kiosk.everything, name)
            if name == "Ada" { try await kiosk.operation(.share, "Ada", [.product: Kiosk.everything]) }
        }
        try await kiosk.device("Ben").run {
            let current = try #require(await StoreKit.Transaction.currentEntitlement(for: Kiosk.everything))
            #expect(try current.payloadValue.ownershipType == .purchased)
            #expect(await entitledProducts() == [Kiosk.everything])
            var all: Set<StoreKit.Transaction.OwnershipType> = []
            for await result in StoreKit.Transaction.all { all.insert(result.unsafePayloadValue.ownershipType) }
            #expect(all == [.purchased, .familyShared])
        }
    }

    @Test func `a family member with a shared subscription is still eligible for an introductory offer`() async throws {
        let kiosk = try await family()
        try await kiosk.buy(Kiosk.monthly)
        try await kiosk.operation(.share, "Ada", [.product: Kiosk.monthly])
        for (name, isEligible) in [("Ada", false), ("Ben", true)] {
            try await kiosk.device(name).run {
                #expect(await entitledProducts() == [Kiosk.monthly])
                #expect(await Product.SubscriptionInfo.isEligibleForIntroOffer(for: Kiosk.group) == isEligible)
            }
        }
    }
}
